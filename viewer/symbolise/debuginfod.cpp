#include "viewer/symbolise/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace hitch::symbolise {
namespace {

using Begin = void* (*)();
using End = void (*)(void*);
using Find = int (*)(void*, const unsigned char*, int, char**);

template <class Function>
Function look_up(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Debuginfod::~Debuginfod() {
  if (client_ != nullptr) {
    if (auto* end = look_up<End>(library_, "debuginfod_end")) end(client_);
  }
  // The library stays: its own dependencies (libcurl) do not like being unloaded.
}

void Debuginfod::open() {
  if (opened_) return;
  opened_ = true;
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') {
    trouble_ =
        "--debuginfod: DEBUGINFOD_URLS names no server "
        "(for Debian: export DEBUGINFOD_URLS=https://debuginfod.debian.net).";
    return;
  }
  library_ = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* begin = library_ == nullptr ? nullptr : look_up<Begin>(library_, "debuginfod_begin");
  if (begin != nullptr) client_ = begin();
  if (client_ == nullptr)
    trouble_ = "--debuginfod: libdebuginfod.so.1 is not installed (Debian: libdebuginfod1).";
}

const std::string& Debuginfod::trouble() {
  open();
  return trouble_;
}

std::string Debuginfod::find(const std::string& build_id, bool executable) {
  open();
  if (client_ == nullptr || build_id.empty()) return {};
  auto* ask = look_up<Find>(
      library_, executable ? "debuginfod_find_executable" : "debuginfod_find_debuginfo");
  if (ask == nullptr) return {};
  char* path = nullptr;
  const int descriptor = ask(client_, reinterpret_cast<const unsigned char*>(build_id.data()),
                             static_cast<int>(build_id.size()), &path);
  if (descriptor < 0) return {};
  close(descriptor);
  std::string result = path == nullptr ? "" : path;
  std::free(path);
  return result;
}

std::string Debuginfod::find_debug_file(const std::string& build_id) {
  return find(build_id, false);
}

std::string Debuginfod::find_executable(const std::string& build_id) {
  return find(build_id, true);
}

}  // namespace hitch::symbolise
