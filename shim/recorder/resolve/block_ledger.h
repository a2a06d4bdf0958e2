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
#include <map>
#include <optional>

#include "recorder/resolve/live_blocks.h"

namespace hitch::resolve {

// A block that holds an address, and since when.
struct Holder {
  std::uint64_t start;
  LiveBlock block;
  std::uint64_t since;  // key of its allocation; 0: not known, as of all small blocks
};

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
      if (previous.size >= kLargeBytes) large_.erase(address);
    }
    if (block.size >= kLargeBytes) [[unlikely]]
      large_[address] = {block, key};
  }

  // True when the block was known: `block` is what it was.
  bool released(std::uint32_t thread, std::uint64_t key, std::uint64_t address, LiveBlock& block) {
    if (key <= implied_.until && was_replaced_early(thread, key, address)) return false;
    if (live_.erase(address, block)) {
      if (block.size >= kLargeBytes) [[unlikely]]
        large_.erase(address);
      return true;
    }
    ++unknown_frees_;
    note(unknown_, thread, key, address);
    return false;
  }

  void clear() {
    live_.clear();
    large_.clear();
  }

  // The live block with `address` in it; blocks of no bytes hold their first address.
  std::optional<Holder> holder(std::uint64_t address) const;
  // f(Holder) for live blocks of at least `least` bytes (no less than kLargeBytes), by address.
  template <class F>
  void for_each_large(std::uint64_t least, F&& f) const {
    for (const auto& [address, large] : large_) {
      if (large.block.size >= least) f(Holder{address, large.block, large.since});
    }
  }
  static constexpr std::uint64_t kLargeBytes = 1024;

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

  struct Large {
    LiveBlock block;
    std::uint64_t since;
  };

  LiveBlocks live_;
  std::map<std::uint64_t, Large> large_;  // by address: an address inside one is not its start
  std::uint64_t window_;
  Recent implied_;
  Recent unknown_;
  std::uint64_t inversions_ = 0;
  std::uint64_t implied_frees_ = 0;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace hitch::resolve
