// The blocks that are live at one moment of a walk through the events: address -> what is known of
// the block. Open addressing with linear probing; deletion shifts back, so that it never fills with
// tombstones. 40 bytes an entry, at most 60 % full.
#pragma once
#include <cstdint>
#include <vector>

namespace hitch::analyse {

struct TrackedBlock {
  std::uint64_t address = 0;  // 0: an empty entry
  std::uint64_t born = 0;     // ticks
  std::uint64_t size = 0;
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  std::uint32_t frame = 0;  // position in Trace::frames
  std::uint32_t order = 0;  // among the blocks of its thread (OrderStack)
};

class BlockTable {
 public:
  BlockTable() : entries_(std::size_t{1} << kFirstBits) {}

  void prefetch(std::uint64_t address) const { __builtin_prefetch(&entries_[home(address)], 1); }

  // Adds a block, or replaces the one at its address: true then, and `previous` is that one.
  bool insert(const TrackedBlock& block, TrackedBlock& previous) {
    std::size_t i = home(block.address);
    for (; entries_[i].address != 0; i = (i + 1) & mask_) {
      if (entries_[i].address != block.address) continue;
      previous = entries_[i];
      entries_[i] = block;
      return true;
    }
    entries_[i] = block;
    if (++count_ > mask_ / 10 * 6) grow();
    return false;
  }

  bool erase(std::uint64_t address, TrackedBlock& block) {
    std::size_t i = home(address);
    for (; entries_[i].address != address; i = (i + 1) & mask_) {
      if (entries_[i].address == 0) return false;
    }
    block = entries_[i];
    --count_;
    close_gap(i);
    return true;
  }

  void clear() {
    entries_.assign(entries_.size(), {});
    count_ = 0;
  }

  std::size_t count() const { return count_; }

  template <class F>
  void for_each(F&& f) const {
    for (const TrackedBlock& block : entries_) {
      if (block.address != 0) f(block);
    }
  }

 private:
  static constexpr unsigned kFirstBits = 14;

  std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> shift_);
  }
  void close_gap(std::size_t hole) {
    for (std::size_t i = (hole + 1) & mask_; entries_[i].address != 0; i = (i + 1) & mask_) {
      // Movable when its home does not lie cyclically between the hole (excluded) and itself.
      if (((i - home(entries_[i].address)) & mask_) < ((i - hole) & mask_)) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
  }
  void grow() {
    std::vector<TrackedBlock> old((mask_ + 1) * 2);
    old.swap(entries_);
    mask_ = entries_.size() - 1;
    --shift_;
    for (const TrackedBlock& block : old) {
      if (block.address == 0) continue;
      std::size_t i = home(block.address);
      while (entries_[i].address != 0) i = (i + 1) & mask_;
      entries_[i] = block;
    }
  }

  std::vector<TrackedBlock> entries_;
  std::size_t mask_ = (std::size_t{1} << kFirstBits) - 1;
  unsigned shift_ = 64 - kFirstBits;
  std::size_t count_ = 0;
};

// The order in which one thread's blocks were allocated, to tell whether a release is of the last
// one that is still live. Bounded: of blocks with many later ones above them it is not known any
// more, and they count as released out of order.
class OrderStack {
 public:
  std::uint32_t push() {
    if (dead_.size() == kMost) {
      dead_.erase(dead_.begin(), dead_.begin() + kMost / 2);
      base_ += kMost / 2;
    }
    dead_.push_back(false);
    return base_ + static_cast<std::uint32_t>(dead_.size()) - 1;
  }
  // True when nothing younger was live.
  bool release(std::uint32_t order) {
    // Wraps around with base_: a place below it is huge.
    const std::uint32_t place = order - base_;
    if (place >= dead_.size()) return false;
    const bool last = place + 1 == dead_.size();
    dead_[place] = true;
    while (!dead_.empty() && dead_.back()) dead_.pop_back();
    return last;
  }
  void clear() {
    base_ += static_cast<std::uint32_t>(dead_.size());
    dead_.clear();
  }

 private:
  static constexpr std::size_t kMost = 8192;

  std::vector<unsigned char> dead_;
  std::uint32_t base_ = 0;
};

}  // namespace hitch::analyse
