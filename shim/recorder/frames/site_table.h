// One thread's call sites, and where their rows are in the frame it is working on: one probe per
// event instead of one for the site and one for the row. Open addressing, 32 bytes an entry.
#pragma once
#include <cstdint>
#include <vector>

#include "base/compiler.h"

namespace hitch::frames {

class SiteTable {
 public:
  struct Entry {
    std::uint64_t key;     // address | class << 48; kEmpty: unused
    std::uint64_t serial;  // of the rows `row` is valid for
    std::uint32_t site;
    std::uint32_t row;
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  SiteTable() { entries_.assign(kFirstEntries, Entry{kEmpty, 0, 0, 0}); }

  HITCH_FAST void prefetch(std::uint64_t key) const { __builtin_prefetch(&entries_[home(key)]); }

  // The entry of `key`; when it is new, its key is still kEmpty and must be set with add().
  Entry& find(std::uint64_t key) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t i = home(key);
    while (entries_[i].key != key && entries_[i].key != kEmpty) i = (i + 1) & mask;
    return entries_[i];
  }
  Entry& add(std::uint64_t key, std::uint32_t site) {
    if (++count_ * 2 > entries_.size()) grow();
    Entry& entry = find(key);
    entry = {key, 0, site, 0};
    return entry;
  }

  void clear() {
    for (Entry& entry : entries_) entry.key = kEmpty;
    count_ = 0;
  }

 private:
  static constexpr std::size_t kFirstEntries = 128;

  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2, Entry{kEmpty, 0, 0, 0});
    old.swap(entries_);
    --shift_;
    for (const Entry& entry : old) {
      if (entry.key != kEmpty) find(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  unsigned shift_ = 64 - 7;
};

}  // namespace hitch::frames
