#include "recorder/resolve/live_blocks.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace hitch::resolve {

namespace {

constexpr std::size_t kHugePage = 2 * 1024 * 1024;

}  // namespace

LiveBlocks::LiveBlocks(unsigned first_bits) { allocate(first_bits); }

LiveBlocks::~LiveBlocks() { munmap(table_, (mask_ + 1) * sizeof(Entry)); }

void LiveBlocks::allocate(unsigned bits) {
  const std::size_t bytes = (std::size_t{1} << bits) * sizeof(Entry);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  table_ = static_cast<Entry*>(memory);
  mask_ = (std::size_t{1} << bits) - 1;
  shift_ = 64 - bits;
  limit_ = (mask_ + 1) / 10 * 6;
}

void LiveBlocks::grow() {
  Entry* const old = table_;
  const std::size_t old_entries = mask_ + 1;
  allocate(64 - shift_ + 1);
  for (std::size_t i = 0; i < old_entries; ++i) {
    if (old[i].first == 0) continue;
    std::size_t j = home(old[i].first & kAddress);
    while (table_[j].first != 0) j = (j + 1) & mask_;
    table_[j] = old[i];
  }
  munmap(old, old_entries * sizeof(Entry));
}

bool LiveBlocks::find(std::uint64_t address, LiveBlock& block) const {
  for (std::size_t i = home(address); table_[i].first != 0; i = (i + 1) & mask_) {
    if ((table_[i].first & kAddress) == address) {
      block = block_of(table_[i]);
      return true;
    }
  }
  return false;
}

void LiveBlocks::clear() {
  if (count_ == 0) return;
  std::memset(static_cast<void*>(table_), 0, (mask_ + 1) * sizeof(Entry));
  count_ = 0;
  bytes_ = 0;
}

}  // namespace hitch::resolve
