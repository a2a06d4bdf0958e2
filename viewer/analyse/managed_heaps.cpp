#include "viewer/analyse/managed_heaps.h"

#include <algorithm>
#include <string_view>

namespace hitch::analyse {
namespace {

struct Runtime {
  // Where a file name begins with it, a dot, a dash, an underscore, a digit or nothing follows:
  // libgc.so.1 is a collector, libgcc_s.so.1 is none.
  std::string_view prefix;
  std::string_view name;
  HeapSource source;
};

constexpr Runtime kRuntimes[] = {
    {"libmono", "Mono", HeapSource::kOwn},
    {"libmonosgen", "Mono", HeapSource::kOwn},
    {"libmonobdwgc", "Mono (Unity, Boehm collector)", HeapSource::kOwn},
    {"libmonoboehm", "Mono (Boehm collector)", HeapSource::kOwn},
    {"GameAssembly", "Unity IL2CPP (Boehm collector)", HeapSource::kOwn},
    {"libil2cpp", "Unity IL2CPP (Boehm collector)", HeapSource::kOwn},
    {"libcoreclr", ".NET", HeapSource::kOwn},
    {"libclr", ".NET", HeapSource::kOwn},
    {"libclrjit", ".NET", HeapSource::kOwn},
    {"libclrgc", ".NET", HeapSource::kOwn},
    {"libgodotsharp", "Godot C# (.NET)", HeapSource::kOwn},
    {"libjvm", "Java", HeapSource::kOwn},
    {"libv8", "V8 (JavaScript)", HeapSource::kOwn},
    {"libnode", "V8 (JavaScript)", HeapSource::kOwn},
    {"libcef", "V8 (JavaScript)", HeapSource::kOwn},
    {"libmozjs", "SpiderMonkey (JavaScript)", HeapSource::kOwn},
    {"libhl", "HashLink", HeapSource::kOwn},
    {"libneko", "Neko (Boehm collector)", HeapSource::kOwn},
    {"libgc", "Boehm collector", HeapSource::kOwn},
    {"libluajit", "LuaJIT", HeapSource::kOwn},
    {"libpython3", "CPython", HeapSource::kOwnSmall},
    {"liblua5", "Lua", HeapSource::kAllocator},
    {"liblua", "Lua", HeapSource::kAllocator},
};

bool names(const Runtime& runtime, std::string_view file) {
  if (!file.starts_with(runtime.prefix)) return false;
  const std::string_view rest = file.substr(runtime.prefix.size());
  return rest.empty() || std::string_view(".-_0123456789").find(rest[0]) != std::string_view::npos;
}

}  // namespace

const char* heap_source_key(HeapSource source) {
  static constexpr const char* kKeys[] = {"own", "own_small", "allocator"};
  return kKeys[static_cast<std::size_t>(source)];
}

std::vector<ManagedHeap> managed_heaps_of(const model::Trace& trace) {
  std::vector<ManagedHeap> heaps;
  for (const model::Module& module : trace.modules) {
    const std::string file = module.path.substr(module.path.find_last_of('/') + 1);
    const auto* runtime = std::find_if(std::begin(kRuntimes), std::end(kRuntimes),
                                       [&](const Runtime& row) { return names(row, file); });
    if (runtime == std::end(kRuntimes)) continue;
    const bool known = std::any_of(heaps.begin(), heaps.end(), [&](const ManagedHeap& heap) {
      return heap.runtime == runtime->name;
    });
    if (!known) heaps.push_back({std::string(runtime->name), file, runtime->source});
  }
  return heaps;
}

}  // namespace hitch::analyse
