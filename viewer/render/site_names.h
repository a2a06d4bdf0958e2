// What call sites, threads and entry points are called in a report.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "viewer/model/trace.h"

namespace hitch::render {

struct Name {
  std::string function;  // Scene::grow, libfoo.so!fn@0x12340, libfoo.so+0x12345; never empty
  std::string module;    // file name without folders; empty: in none
  std::string place;     // scene.cpp:120; empty: unknown
  std::string hint;      // for functions without a name: "via SDL_LoadBMP_RW"; may be empty
};

// Names the instruction before a return address.
using Namer = std::function<Name(std::optional<model::ModuleId> module, std::uint64_t address)>;

// module+offset, for when there are no symbols at all.
Namer offset_namer(const model::Trace& trace);

// Names of one trace, each looked up once and made printable.
class SiteNames {
 public:
  SiteNames(const model::Trace& trace, Namer namer) : trace_(trace), namer_(std::move(namer)) {}

  const Name& site(model::SiteId id);
  const Name& entry(std::optional<model::ModuleId> module, std::uint64_t address);
  // "Scene::grow < Scene::update < main": at most `depth` entries of a callstack, innermost first.
  std::string stack(model::StackId id, std::size_t depth);
  // The callers of a site's function, "Scene::update < Game::run < main": from the entry the site
  // is known by outwards, as many as `room` columns hold. Empty without a callstack.
  std::string callers(model::SiteId id, std::size_t room);
  std::string thread(model::ThreadId id) const;
  // The function that an instruction lies in.
  const Name& place(model::PlaceId id);

 private:
  const model::Trace& trace_;
  Namer namer_;
  std::map<std::uint64_t, Name> names_;  // by address
  std::map<model::SiteId, Name> group_names_;
};

// malloc, new[], realloc, ...
const char* op_name(std::uint8_t op);
// glXSwapBuffers & co. as a family: "GLX", "EGL", "SDL", "hitch_frame_mark".
const char* api_name(std::uint8_t api);
std::string file_name(const std::string& path);

}  // namespace hitch::render
