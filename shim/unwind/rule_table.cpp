#include "unwind/rule_table.h"

namespace hitch::unwind {

Rule RuleTable::unpack(std::uint64_t word) {
  return {kind_of(word), static_cast<std::int32_t>(cfa_of(word) / 8),
          static_cast<std::int32_t>(rbp_of(word) / 8)};
}

std::uint64_t RuleTable::pack(const Rule& rule) {
  return static_cast<std::uint64_t>(rule.kind) << kKindShift |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(rule.rbp)) << kRbpShift |
         static_cast<std::uint64_t>(std::int64_t{rule.cfa}) << kCfaShift;
}

void RuleTable::insert(std::uintptr_t address, const Rule& rule) {
  const std::uint64_t tag = address >> kHomeBits & kTagMask;
  const std::size_t home = (address ^ tag) & (kEntries - 1);
  // All four taken: one of them makes room. Which one depends on the address, so that two that
  // fight for a place are unlikely to choose the same victim.
  std::uint64_t away = tag & (kWays - 1);
  for (std::uint64_t i = 0; i < kWays; ++i) {
    const std::uint64_t word = words_[(home + i) & (kEntries - 1)].load(std::memory_order_relaxed);
    if (kind_of(word) == RuleKind::kNone || (word & kKeyMask) == (tag | i << kTagBits)) {
      away = i;
      break;
    }
  }
  words_[(home + away) & (kEntries - 1)].store(pack(rule) | away << kTagBits | tag,
                                               std::memory_order_relaxed);
}

void RuleTable::forget(std::uintptr_t start, std::uintptr_t end) {
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
    if (kind_of(word) == RuleKind::kNone) continue;
    const std::uint64_t tag = word & kTagMask;
    const std::size_t home = (i - (word >> kTagBits & (kWays - 1))) & (kEntries - 1);
    const std::uintptr_t address = tag << kHomeBits | ((home ^ tag) & (kEntries - 1));
    if (address >= start && address < end) words_[i].store(0, std::memory_order_relaxed);
  }
}

}  // namespace hitch::unwind
