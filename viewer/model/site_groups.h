// A game has thousands of callstacks that allocate, and few places that matter: call sites are
// shown, ranked and compared in groups.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "viewer/model/trace.h"

namespace hitch::model {

struct SiteKey {
  std::string group;  // sites of equal groups and kinds of call become one
  std::string name;   // what the group is called; empty: by the address
  // What the group is named by.
  std::uint64_t address = 0;
  std::optional<ModuleId> module;
  std::string function = {};  // that it lies in; empty: the group stands for itself
};
using SiteKeyOf = std::function<SiteKey(const Site&)>;

// Replaces the call sites of a loaded trace by groups of them, everywhere; rows of frames that are
// read later (frame_sites.h) follow. A group keeps the stack of its heaviest member. Once for each
// trace.
void group_sites(Trace& trace, const SiteKeyOf& key_of);

}  // namespace hitch::model
