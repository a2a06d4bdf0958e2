// Names for a trace's addresses from the symboliser, with the nearest named entry of a recorded
// callstack as a hint where a function has none.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "viewer/model/site_groups.h"
#include "viewer/model/trace.h"
#include "viewer/render/site_names.h"

namespace hitch::app {

// kEntry: the first stack entry that is not plumbing; kFunction, kFile, kModule: that entry's;
// kCaller: the return address of the allocator's entry point; kStack: each callstack by itself.
enum class Grouping : std::uint8_t { kEntry, kFunction, kFile, kModule, kCaller, kStack };

class SiteNamer {
 public:
  // `trace` must outlive the namer, and the namer what function() returns.
  SiteNamer(const model::Trace& trace, const std::vector<std::string>& symbols, bool debuginfod);
  ~SiteNamer();
  SiteNamer(const SiteNamer&) = delete;
  SiteNamer& operator=(const SiteNamer&) = delete;

  render::Namer function();
  // What call sites are grouped by. `skip`: see Plumbing. Valid while the namer is.
  model::SiteKeyOf grouping(Grouping grouping, const std::vector<std::string>& skip);
  // What the user should know about symbols; grows with look-ups.
  std::vector<std::string> notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hitch::app
