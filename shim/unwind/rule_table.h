// pc -> rule, for all threads: lock-free for readers and writers, one 64-bit word an entry.
//
// The word holds all of the pc that its place does not say, so that no entry is ever half of one
// pc and half of another:
//
//   63        34 33  32 31  29 28         10 9        0
//   +-----------+------+------+-------------+----------+
//   |  tag      | away | kind | cfa (words) | rbp      |
//   +-----------+------+------+-------------+----------+
//
// pc times an odd constant, modulo 2^47, is a bijection of the user half of the address space: its
// high 17 bits are the home, its low 30 bits the tag. `away` is how far from home the entry lies.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/compiler.h"
#include "unwind/rule.h"

namespace hitch::unwind {

class RuleTable {
 public:
  static constexpr unsigned kHomeBits = 17;
  static constexpr std::size_t kEntries = std::size_t{1} << kHomeBits;
  using Word = std::atomic<std::uint64_t>;

  // `words`: kEntries zeroed words, page aligned, of a private anonymous mapping.
  constexpr explicit RuleTable(Word* words) : words_(words) {}

  bool is_there() const { return words_ != nullptr; }

  // The packed rule, 0 when it is not known.
  HITCH_FAST std::uint64_t find(std::uintptr_t pc) const {
    const std::uint64_t spread = (pc * kSpread) & kPcMask;
    const std::size_t home = spread >> kTagBits;
    const std::uint64_t tag = (spread & kTagMask) << kTagShift;
    for (std::uint64_t away = 0; away < kWays; ++away) {
      const std::uint64_t word =
          words_[(home + away) & (kEntries - 1)].load(std::memory_order_relaxed);
      if ((word & kKeyMask) == (tag | away << kAwayShift) && kind_of(word) != RuleKind::kNone)
        return word;
    }
    return 0;
  }
  void insert(std::uintptr_t pc, const Rule& rule);
  // Forgets the rules of code that is gone.
  void forget(std::uintptr_t start, std::uintptr_t end);

  HITCH_FAST static RuleKind kind_of(std::uint64_t word) {
    return static_cast<RuleKind>(word >> kKindShift & 7);
  }
  // In bytes, signed.
  HITCH_FAST static std::intptr_t cfa_of(std::uint64_t word) {
    return static_cast<std::intptr_t>(word << (63 - kCfaTop)) >> (63 - kCfaTop + kRbpBits) << 3;
  }
  HITCH_FAST static std::intptr_t rbp_of(std::uint64_t word) {
    return static_cast<std::intptr_t>((word & ((1u << kRbpBits) - 1)) << 3);
  }
  static Rule unpack(std::uint64_t word);
  static std::uint64_t pack(const Rule& rule);

 private:
  static constexpr unsigned kTagBits = 30;
  static constexpr unsigned kTagShift = 34;
  static constexpr unsigned kAwayShift = 32;
  static constexpr unsigned kKindShift = 29;
  static constexpr unsigned kRbpBits = 10;
  static constexpr unsigned kCfaTop = 28;
  static constexpr std::uint64_t kWays = 4;
  static constexpr std::uint64_t kPcMask = (std::uint64_t{1} << (kHomeBits + kTagBits)) - 1;
  static constexpr std::uint64_t kTagMask = (std::uint64_t{1} << kTagBits) - 1;
  static constexpr std::uint64_t kKeyMask = ~std::uint64_t{0} << kAwayShift;
  static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15u;  // odd: 2^64 / golden ratio

  Word* words_;
};

}  // namespace hitch::unwind
