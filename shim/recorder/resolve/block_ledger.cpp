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

}  // namespace hitch::resolve
