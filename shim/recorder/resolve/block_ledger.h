// Which block is live, through records that may contradict each other.
//
// Records of one thread are in order, and so are those of the C library's allocators across
// threads. An engine's own allocator may report a release a little after another thread already got
// the block:
//   alloc p by B at k1, then free p by A at k2 <= k1 + 10 us:  the release meant the block before
//   free p (unknown) by B at k1, then alloc p by A within 10 us: the block is already gone
// Both are repaired and counted as inversions. Beyond that, an allocation on a live address implies
// that its release was missed, and a release of an unknown address is counted and otherwise
// ignored.
#pragma once
#include <array>
#include <cstdint>

#include "recorder/resolve/live_blocks.h"

namespace hitch::resolve {

class BlockLedger {
 public:
  // `window` is 10 us in ticks.
  explicit BlockLedger(std::uint64_t window, unsigned first_bits = 16)
      : live_(first_bits), window_(window) {}

  HITCH_FAST void prefetch(std::uint64_t address) const { live_.prefetch(address); }

  void allocated(std::uint32_t thread, std::uint64_t key, std::uint64_t address, LiveBlock block) {
    if (address == 0) return;
    if (key <= unknown_.until && was_released_early(thread, key, address)) return;
    LiveBlock previous;
    if (live_.insert(address, block, previous)) {
      ++implied_frees_;
      note(implied_, thread, key, address);
    }
  }

  // True when the block was known: `block` is what it was.
  bool released(std::uint32_t thread, std::uint64_t key, std::uint64_t address, LiveBlock& block) {
    if (key <= implied_.until && was_replaced_early(thread, key, address)) return false;
    if (live_.erase(address, block)) return true;
    ++unknown_frees_;
    note(unknown_, thread, key, address);
    return false;
  }

  void clear() { live_.clear(); }

  const LiveBlocks& live() const { return live_; }
  std::uint64_t inversions() const { return inversions_; }
  std::uint64_t implied_frees() const { return implied_frees_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }

 private:
  struct Odd {
    std::uint64_t address;
    std::uint64_t key;
    std::uint32_t thread;
  };
  // The latest contradictions; `until` is when the newest of them is too old to matter.
  struct Recent {
    std::array<Odd, 16> entries{};
    unsigned next = 0;
    std::uint64_t until = 0;
  };

  void note(Recent& recent, std::uint32_t thread, std::uint64_t key, std::uint64_t address);
  bool take(Recent& recent, std::uint32_t thread, std::uint64_t key, std::uint64_t address);
  bool was_released_early(std::uint32_t thread, std::uint64_t key, std::uint64_t address);
  bool was_replaced_early(std::uint32_t thread, std::uint64_t key, std::uint64_t address);

  LiveBlocks live_;
  std::uint64_t window_;
  Recent implied_;
  Recent unknown_;
  std::uint64_t inversions_ = 0;
  std::uint64_t implied_frees_ = 0;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace hitch::resolve
