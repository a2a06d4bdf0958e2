// How to get from one stack entry to the next older one: x86-64, reduced to what compilers emit at
// call sites. The stack pointer and rbp are all the registers that ever matter there.
#pragma once
#include <cstdint>

namespace hitch::unwind {

// The canonical frame address (CFA) is the stack pointer after the function has returned; its
// return address lies just below. The kinds say where the CFA comes from. (DWARF calls this "the
// frame"; everywhere else in this project a frame is the game's picture.)
enum class RuleKind : std::uint8_t {
  kNone = 0,      // no rule: not in the table
  kRsp = 1,       // rsp + 8 * cfa
  kRbp = 2,       // rbp + 8 * cfa
  kRbpDeref = 3,  // *(rbp + 8 * cfa): functions that align their stack
  kSignal = 4,    // the kernel's signal frame: registers lie in the ucontext at rsp
  kEnd = 5,       // outermost entry: the return address is undefined
  kUnknown = 6,   // the module has no rule for this address, or one that is none of these
};

struct Rule {
  RuleKind kind = RuleKind::kNone;
  std::int32_t cfa = 0;  // in 8-byte words
  // Where the caller's rbp is: kRbpKept, or in words: below the CFA for kRsp and kRbp (positive),
  // from rbp for kRbpDeref.
  std::int32_t rbp = 0;

  friend bool operator==(const Rule&, const Rule&) = default;
};

constexpr std::int32_t kRbpKept = 0;
// For kRbpDeref the distance 0 is the usual one: stored with this added.
constexpr std::int32_t kDerefBias = 512;

// Limits of the packed form in rule_table.h; rules beyond are kUnknown.
constexpr std::int32_t kMostCfa = (1 << 18) - 1;
constexpr std::int32_t kMostRbp = (1 << 10) - 1;

// Offsets in the signal frame of Linux on x86-64 from the stack pointer at __restore_rt: struct
// ucontext, its gregs.
constexpr std::uintptr_t kSignalRbp = 120;
constexpr std::uintptr_t kSignalRsp = 160;
constexpr std::uintptr_t kSignalRip = 168;

}  // namespace hitch::unwind
