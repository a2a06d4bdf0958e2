// Which call of the game's own mapped an address: engines with allocators of their own live there.
#pragma once
#include <cstdint>
#include <iterator>
#include <map>

namespace hitch::resolve {

class Mmaps {
 public:
  void mapped(std::uint64_t start, std::uint64_t bytes, std::uint32_t site) {
    unmapped(start, bytes);
    if (bytes == 0 || ranges_.size() >= kMost) return;
    ranges_[start] = {start + bytes, site};
  }
  // Cuts the range out of what is mapped.
  void unmapped(std::uint64_t start, std::uint64_t bytes) {
    const std::uint64_t end = start + bytes;
    auto range = ranges_.lower_bound(start);
    if (range != ranges_.begin() && std::prev(range)->second.end > start) --range;
    while (range != ranges_.end() && range->first < end) {
      const std::uint64_t first = range->first;
      const Range old = range->second;
      range = ranges_.erase(range);
      if (first < start) ranges_[first] = {start, old.site};
      if (old.end > end) {
        ranges_[end] = old;
        return;
      }
    }
  }
  // The call's Site, or null.
  const std::uint32_t* find(std::uint64_t address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return nullptr;
    --after;
    return address < after->second.end ? &after->second.site : nullptr;
  }

 private:
  // More than the kernel allows a process by default.
  static constexpr std::size_t kMost = 1u << 17;
  struct Range {
    std::uint64_t end;
    std::uint32_t site;
  };
  std::map<std::uint64_t, Range> ranges_;  // by start, never overlapping
};

}  // namespace hitch::resolve
