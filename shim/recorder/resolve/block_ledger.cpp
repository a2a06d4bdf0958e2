#include "recorder/resolve/block_ledger.h"

namespace hitch::resolve {

void BlockLedger::note(Recent& recent, std::uint32_t thread, std::uint64_t key,
                       std::uint64_t address) {
  recent.entries[recent.next++ % recent.entries.size()] = {address, key, thread};
  recent.until = key + window_;
}

// Only another thread's record can be in the wrong order: a thread's own are not.
bool BlockLedger::take(Recent& recent, std::uint32_t thread, std::uint64_t key,
                       std::uint64_t address) {
  for (Odd& odd : recent.entries) {
    if (odd.address == address && odd.thread != thread && key <= odd.key + window_) {
      odd.address = 0;
      return true;
    }
  }
  return false;
}

bool BlockLedger::was_released_early(std::uint32_t thread, std::uint64_t key,
                                     std::uint64_t address) {
  if (!take(unknown_, thread, key, address)) return false;
  ++inversions_;
  --unknown_frees_;
  return true;
}

bool BlockLedger::was_replaced_early(std::uint32_t thread, std::uint64_t key,
                                     std::uint64_t address) {
  if (!take(implied_, thread, key, address)) return false;
  ++inversions_;
  --implied_frees_;
  return true;
}

// A small block is found by trying the starts it could have, which are multiples of 16.
std::optional<Holder> BlockLedger::holder(std::uint64_t address) const {
  constexpr std::uint64_t kStep = 16;
  auto after = large_.upper_bound(address);
  if (after != large_.begin()) {
    --after;
    if (address - after->first < after->second.block.size)
      return Holder{after->first, after->second.block, after->second.since};
  }
  std::uint64_t start = address / kStep * kStep;
  for (std::uint64_t away = 0; away < kLargeBytes && start != 0; away += kStep, start -= kStep) {
    LiveBlock block{};
    if (!live_.find(start, block)) continue;
    if (start != address && address - start >= block.size) return std::nullopt;
    return Holder{start, block, 0};
  }
  return std::nullopt;
}

}  // namespace hitch::resolve
