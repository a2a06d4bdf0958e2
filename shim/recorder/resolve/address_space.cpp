#include "recorder/resolve/address_space.h"

#include <algorithm>

namespace hitch::resolve {

const Mapping* AddressSpace::known(std::uint64_t address) const {
  auto after =
      std::upper_bound(mappings_.begin(), mappings_.end(), address,
                       [](std::uint64_t a, const Mapping& mapping) { return a < mapping.start; });
  if (after == mappings_.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

const Mapping* AddressSpace::at(std::uint64_t address, std::uint64_t now_ms) {
  const Mapping* found = known(address);
  const std::uint64_t least = found != nullptr ? kOldMs : kLookEveryMs;
  if (looked_ && now_ms < looked_ms_ + least) return found;
  looked_ = true;
  looked_ms_ = now_ms;
  std::vector<Mapping> fresh = files_.mappings();
  // A process that is gone has none: what is known of it stays.
  if (!fresh.empty()) mappings_ = std::move(fresh);
  return known(address);
}

}  // namespace hitch::resolve
