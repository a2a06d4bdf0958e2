#include "unwind/rule_table.h"

namespace hitch::unwind {
namespace {

// Inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the right bits.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

}  // namespace

Rule RuleTable::unpack(std::uint64_t word) {
  return {kind_of(word), static_cast<std::int32_t>(cfa_of(word) / 8),
          static_cast<std::int32_t>(rbp_of(word) / 8)};
}

std::uint64_t RuleTable::pack(const Rule& rule) {
  return static_cast<std::uint64_t>(rule.kind) << kKindShift |
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(rule.cfa)) & ((1u << 19) - 1))
             << kRbpBits |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(rule.rbp));
}

void RuleTable::insert(std::uintptr_t pc, const Rule& rule) {
  const std::uint64_t spread = (pc * kSpread) & kPcMask;
  const std::size_t home = spread >> kTagBits;
  // All four taken: one of them makes room. Which one depends on the pc, so that two that fight for
  // a place are unlikely to choose the same victim.
  std::uint64_t away = spread & (kWays - 1);
  for (std::uint64_t i = 0; i < kWays; ++i) {
    const std::uint64_t word = words_[(home + i) & (kEntries - 1)].load(std::memory_order_relaxed);
    if (kind_of(word) == RuleKind::kNone ||
        (word & kKeyMask) == ((spread & kTagMask) << kTagShift | i << kAwayShift)) {
      away = i;
      break;
    }
  }
  const std::uint64_t word = (spread & kTagMask) << kTagShift | away << kAwayShift | pack(rule);
  words_[(home + away) & (kEntries - 1)].store(word, std::memory_order_relaxed);
}

void RuleTable::forget(std::uintptr_t start, std::uintptr_t end) {
  constexpr std::uint64_t kBack = inverse(kSpread);
  static_assert(kBack * kSpread == 1);
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
    if (kind_of(word) == RuleKind::kNone) continue;
    const std::size_t home = (i - (word >> kAwayShift & (kWays - 1))) & (kEntries - 1);
    const std::uint64_t spread = std::uint64_t{home} << kTagBits | word >> kTagShift;
    const std::uintptr_t pc = (spread * kBack) & kPcMask;
    if (pc >= start && pc < end) words_[i].store(0, std::memory_order_relaxed);
  }
}

}  // namespace hitch::unwind
