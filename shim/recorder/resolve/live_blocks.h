// The blocks that are live now: address -> size and site. Open addressing with linear probing,
// 16 bytes an entry, deletion by shifting back, so that it never fills with tombstones.
//
//   entry   word 0: address (48) | site low (16)      0: empty
//           word 1: size    (40) | site high (8) | born (16)
//
// The table starts at 64 Ki entries and doubles at 60 % load: 500,000 blocks lie in 16 MiB. An
// entry's home is the top bits of address x an odd constant, so doubling keeps the order of homes
// and the copy runs through both tables from front to back.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/compiler.h"

namespace hitch::resolve {

struct LiveBlock {
  std::uint64_t size;
  std::uint32_t site;
  std::uint16_t born = 0;  // low bits of the Frame id
};

class LiveBlocks {
 public:
  explicit LiveBlocks(unsigned first_bits = 16);
  ~LiveBlocks();
  LiveBlocks(const LiveBlocks&) = delete;
  LiveBlocks& operator=(const LiveBlocks&) = delete;

  // Always inlined, here and in callers: GCC 12 takes a function that only prefetches for one
  // without effect and drops the call.
  HITCH_FAST void prefetch(std::uint64_t address) const {
    __builtin_prefetch(&table_[home(address)], 1);
  }

  // `address` is not 0. True when it was live: `previous` then holds the block that was replaced.
  bool insert(std::uint64_t address, LiveBlock block, LiveBlock& previous) {
    if (block.size > kSize) block.size = kSize;
    std::size_t i = home(address);
    while (table_[i].first != 0) {
      if ((table_[i].first & kAddress) == address) {
        previous = block_of(table_[i]);
        bytes_ += block.size - previous.size;
        table_[i] = entry_of(address, block);
        return true;
      }
      i = (i + 1) & mask_;
    }
    table_[i] = entry_of(address, block);
    bytes_ += block.size;
    if (++count_ > limit_) grow();
    return false;
  }

  // True when the address was live; fills `block`.
  bool erase(std::uint64_t address, LiveBlock& block) {
    std::size_t i = home(address);
    while (table_[i].first != 0) {
      if ((table_[i].first & kAddress) == address) {
        block = block_of(table_[i]);
        bytes_ -= block.size;
        --count_;
        close_gap(i);
        return true;
      }
      i = (i + 1) & mask_;
    }
    return false;
  }

  bool find(std::uint64_t address, LiveBlock& block) const;
  // f(address, block) for every block, in no order.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (table_[i].first != 0) f(table_[i].first & kAddress, block_of(table_[i]));
    }
  }
  void clear();

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::uint64_t first;
    std::uint64_t second;
  };
  static constexpr std::uint64_t kAddress = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t kSize = (std::uint64_t{1} << 40) - 1;

  std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> shift_);
  }
  static Entry entry_of(std::uint64_t address, LiveBlock block) {
    return {address | static_cast<std::uint64_t>(block.site & 0xffff) << 48,
            (block.size & kSize) | static_cast<std::uint64_t>(block.site >> 16 & 0xff) << 40 |
                static_cast<std::uint64_t>(block.born) << 48};
  }
  static LiveBlock block_of(const Entry& entry) {
    return {entry.second & kSize,
            static_cast<std::uint32_t>(entry.first >> 48 | (entry.second >> 40 & 0xff) << 16),
            static_cast<std::uint16_t>(entry.second >> 48)};
  }
  void close_gap(std::size_t hole) {
    std::size_t i = hole;
    for (;;) {
      i = (i + 1) & mask_;
      if (table_[i].first == 0) break;
      const std::size_t wanted = home(table_[i].first & kAddress);
      // Movable when its home does not lie cyclically between the hole (excluded) and itself.
      if (((i - wanted) & mask_) >= ((i - hole) & mask_)) {
        table_[hole] = table_[i];
        hole = i;
      }
    }
    table_[hole] = {};
  }
  void allocate(unsigned bits);
  void grow();

  Entry* table_ = nullptr;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace hitch::resolve
