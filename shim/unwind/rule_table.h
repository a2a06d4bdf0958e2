// Return address -> rule, for all threads: lock-free for readers and writers, one 64-bit word an
// entry.
//
// The word holds all of the address that its place does not say, so that no entry is ever half of
// one and half of another:
//
//   63         45 44   35 34  32 31  30 29       0
//   +------------+-------+------+------+----------+
//   | cfa, words | rbp   | kind | away |   tag    |
//   +------------+-------+------+------+----------+
//
// The tag is the address without its low 17 bits; those, exclusive-or the tag's, are the home.
// `away` is how far from home the entry lies. A walk waits for each look-up before it can begin the
// next: home and cfa are made to take as few dependent instructions as possible.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/compiler.h"
#include "unwind/rule.h"

namespace hitch::unwind {

class RuleTable {
 public:
  static constexpr unsigned kHomeBits = 17;
  static constexpr std::size_t kEntries = std::size_t{1} << kHomeBits;
  using Word = std::atomic<std::uint64_t>;

  // `words`: kEntries zeroed words.
  constexpr explicit RuleTable(Word* words) : words_(words) {}

  bool is_there() const { return words_ != nullptr; }

  // The packed rule; of kind kNone when it is not known.
  HITCH_FAST std::uint64_t find(std::uintptr_t address) const {
    const std::uint64_t tag = address >> kHomeBits;
    const std::size_t home = (address ^ tag) & (kEntries - 1);
    for (std::uint64_t away = 0; away < kWays; ++away) {
      const std::uint64_t word =
          words_[(home + away) & (kEntries - 1)].load(std::memory_order_relaxed);
      if ((word & kKeyMask) == (tag | away << kTagBits)) return word;
    }
    return 0;
  }
  void insert(std::uintptr_t address, const Rule& rule);
  // Forgets the rules of code that is gone.
  void forget(std::uintptr_t start, std::uintptr_t end);

  HITCH_FAST static RuleKind kind_of(std::uint64_t word) {
    return static_cast<RuleKind>(word >> kKindShift & 7);
  }
  // In bytes, signed.
  HITCH_FAST static std::intptr_t cfa_of(std::uint64_t word) {
    return static_cast<std::intptr_t>(word) >> kCfaShift << 3;
  }
  HITCH_FAST static std::intptr_t rbp_of(std::uint64_t word) {
    return static_cast<std::intptr_t>(word >> (kRbpShift - 3) & kRbpBytesMask);
  }
  static Rule unpack(std::uint64_t word);
  static std::uint64_t pack(const Rule& rule);

 private:
  static constexpr unsigned kTagBits = 30;
  static constexpr unsigned kKindShift = 32;
  static constexpr unsigned kRbpShift = 35;
  static constexpr unsigned kCfaShift = 45;
  static constexpr std::uint64_t kWays = 4;
  static constexpr std::uint64_t kTagMask = (std::uint64_t{1} << kTagBits) - 1;
  static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << kKindShift) - 1;
  static constexpr std::uint64_t kRbpBytesMask = ((1u << 10) - 1) << 3;

  Word* words_;
};

}  // namespace hitch::unwind
