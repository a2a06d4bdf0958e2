// The test mode that compares captured stacks with libunwind's (option verify_stacks).
#pragma once
#include <cstdint>

#include "unwind/walker.h"

namespace hitch::unwind {

enum class Check : std::uint8_t {
  kSame,       // both whole and equal, entry by entry
  kTruncated,  // equal as far as the shorter one goes, and one of them ended early
  kDifferent,
};

// Opens libunwind RTLD_LOCAL, so that it can never take over the game's exceptions. May allocate
// and take the loader's lock. False: it is not installed.
using DlopenFn = void* (*)(const char*, int);
using DlsymFn = void* (*)(void*, const char*);
bool prepare_verification(DlopenFn open, DlsymFn find);
bool is_verifying();

// Compares the memo with what libunwind sees of the same stack: `slot` holds its innermost return
// address. libunwind may allocate. The first differences are said on stderr.
Check verify(const StackMemo& memo, std::uintptr_t slot);

}  // namespace hitch::unwind
