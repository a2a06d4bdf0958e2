// Hash index from a 64-bit key to a small number: open addressing, never shrinks, no deletion.
#pragma once
#include <cstdint>
#include <vector>

namespace hitch::resolve {

class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit FlatIndex(unsigned first_bits = 10)
      : entries_(std::size_t{1} << first_bits, Entry{0, kNone}), shift_(64 - first_bits) {}

  // The number stored for `key`, or kNone.
  std::uint32_t find(std::uint64_t key) const { return entries_[place(key)].value; }

  // The number stored for `key`; `fresh` is stored first when there is none yet.
  std::uint32_t find_or_add(std::uint64_t key, std::uint32_t fresh) {
    Entry& entry = entries_[place(key)];
    if (entry.value != kNone) return entry.value;
    entry = {key, fresh};
    if (++count_ * 2 > entries_.size()) grow();
    return fresh;
  }

  void clear() {
    if (count_ == 0) return;
    for (Entry& entry : entries_) entry.value = kNone;
    count_ = 0;
  }
  std::size_t size() const { return count_; }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t value;
  };
  std::size_t place(std::uint64_t key) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t i = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
    while (entries_[i].value != kNone && entries_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2, Entry{0, kNone});
    old.swap(entries_);
    --shift_;
    for (const Entry& entry : old) {
      if (entry.value != kNone) entries_[place(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  unsigned shift_;
  std::size_t count_ = 0;
};

}  // namespace hitch::resolve
