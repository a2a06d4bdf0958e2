// Up to where a stack may be read. Nothing unmapped is ever touched: rules are only as good as the
// module they come from, and a coroutine's stack may end anywhere.
#pragma once
#include <cstdint>

#include "base/compiler.h"

namespace hitch::unwind {

// The thread's own stack is known by its top, where the C library keeps the thread's data (or the
// kernel the arguments, for the main thread), and by its pages being readable without a hole down
// from there: [low, high). Everything else is foreign: coroutines, alternate signal stacks. Of a
// foreign stack only what was asked for just now is trusted, page by page.
class StackBounds {
 public:
  // `top`: one past the thread's own stack.
  void reset(std::uintptr_t top) {
    low_ = high_ = top;
    foreign_ = 0;
  }

  // One past what may be read from `sp` on; `foreign` tells whether extend() may find more.
  HITCH_FAST std::uintptr_t limit(std::uintptr_t sp, bool& foreign) {
    foreign = false;
    if (HITCH_LIKELY(sp >= low_ && sp < high_)) return high_;
    return slow_limit(sp, foreign);
  }
  // The limit moved up so that `address` lies below it, when all pages up to there are readable;
  // else the old limit.
  static std::uintptr_t extend(std::uintptr_t limit, std::uintptr_t address);

 private:
  HITCH_SLOW std::uintptr_t slow_limit(std::uintptr_t sp, bool& foreign);

  std::uintptr_t low_ = 0;
  std::uintptr_t high_ = 0;
  std::uintptr_t foreign_ = 0;  // a page that was found not to belong to the own stack
};

// One past the calling thread's own stack.
std::uintptr_t top_of_own_stack(bool is_main_thread);

// True when the word at `address` (a multiple of 8) can be read. Costs a system call.
bool is_readable(std::uintptr_t address);

}  // namespace hitch::unwind
