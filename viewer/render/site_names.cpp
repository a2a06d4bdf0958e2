#include "viewer/render/site_names.h"

#include <array>
#include <cstdio>

#include "format/buffer_records.h"
#include "viewer/render/page.h"

namespace hitch::render {
namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "0x%llx", static_cast<unsigned long long>(value));
  return buffer.data();
}

}  // namespace

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Namer offset_namer(const model::Trace& trace) {
  return [&trace](std::optional<model::ModuleId> module, std::uint64_t address) {
    Name name;
    if (module && module->index() < trace.modules.size()) {
      const model::Module& file = trace.modules[module->index()];
      name.module = file_name(file.path);
      name.function = name.module + "+" + hex(file.file_address(address));
    } else {
      name.function = address == 0 ? "(unknown)" : hex(address);
    }
    return name;
  };
}

const Name& SiteNames::entry(std::optional<model::ModuleId> module, std::uint64_t address) {
  const auto found = names_.find(address);
  if (found != names_.end()) return found->second;
  Name name = namer_(module, address);
  for (std::string* text : {&name.function, &name.module, &name.place, &name.hint}) {
    *text = printable(*text);
  }
  if (name.function.empty()) name.function = "(unknown)";
  return names_.emplace(address, std::move(name)).first->second;
}

const Name& SiteNames::site(model::SiteId id) {
  const model::Site& site = trace_.sites[id.index()];
  if (site.name.empty()) return entry(site.module, site.address);
  const auto [place, fresh] = group_names_.try_emplace(id);
  if (fresh)
    place->second = {printable(site.name), entry(site.module, site.address).module, "", ""};
  return place->second;
}

std::string SiteNames::stack(model::StackId id, std::size_t depth) {
  const model::Stack& stack = trace_.stacks[id.index()];
  std::string text;
  for (std::size_t i = 0; i < stack.addresses.size() && i < depth; ++i) {
    if (i > 0) text += " < ";
    text += entry(stack.modules[i], stack.addresses[i]).function;
  }
  return text;
}

std::string SiteNames::callers(model::SiteId id, std::size_t room) {
  const model::Site& site = trace_.sites[id.index()];
  if (!site.stack) return "";
  const model::Stack& stack = trace_.stacks[site.stack->index()];
  std::size_t at = 0;
  while (at < stack.addresses.size() && stack.addresses[at] != site.address) ++at;
  std::string text;
  for (++at; at < stack.addresses.size(); ++at) {
    const std::string& function = entry(stack.modules[at], stack.addresses[at]).function;
    const std::string next = (text.empty() ? "" : " < ") + function;
    if (columns_of(text) + columns_of(next) > room) {
      if (text.empty()) text = fit(function, room);
      break;
    }
    text += next;
  }
  return text;
}

// Namers take return addresses and name the instruction before.
const Name& SiteNames::place(model::PlaceId id) {
  const model::Place& place = trace_.places[id.index()];
  return entry(place.module, place.address + 1);
}

std::string SiteNames::thread(model::ThreadId id) const {
  if (id.index() >= trace_.threads.size()) return "a thread without a name";
  const model::Thread& thread = trace_.threads[id.index()];
  if (thread.name.empty()) return "thread " + std::to_string(thread.tid);
  return printable(thread.name);
}

const char* op_name(std::uint8_t op) {
  static constexpr std::array<const char*, static_cast<std::size_t>(format::Op::kCount)> kNames = {
      "malloc", "calloc", "realloc",  "aligned alloc", "new",  "new[]",  "aligned new",
      "free",   "delete", "delete[]", "heap call",     "mmap", "munmap", "mremap"};
  return op < kNames.size() ? kNames[op] : "call";
}

const char* api_name(std::uint8_t api) {
  switch (static_cast<format::Api>(api)) {
    case format::Api::kGlx:
      return "GLX";
    case format::Api::kEgl:
      return "EGL";
    case format::Api::kSdl:
      return "SDL";
    case format::Api::kMark:
      return "hitch_frame_mark";
    case format::Api::kWindow:
      return "windows";
    case format::Api::kNone:
      break;
  }
  return "unknown";
}

}  // namespace hitch::render
