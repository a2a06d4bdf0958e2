// The words that mark hot and cold code.
#pragma once

#define HITCH_FAST [[gnu::always_inline]] inline
// Not gnu::cold: the compiler would move the fast path's own continuation away with it.
#define HITCH_SLOW [[gnu::noinline]]
#define HITCH_LIKELY(x) __builtin_expect(!!(x), 1)
#define HITCH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HITCH_EXPORT extern "C" [[gnu::visibility("default")]]
// The address a hook was called from. Only meaningful in the exported function itself.
#define HITCH_CALLER() (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)))

namespace hitch::base {

// Keeps the compiler from moving memory accesses across: enough against signal handlers of this
// thread.
HITCH_FAST void signal_fence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// One read-modify-write instruction, so that a signal handler of the same thread can never lose a
// count. Other threads may read at any time; none may write.
HITCH_FAST void add_once(unsigned long& counter, unsigned long value) {
  asm("addq %1, %0" : "+m"(counter) : "er"(value) : "cc");
}

HITCH_FAST unsigned long stack_pointer() {
  unsigned long sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

// Address of the word that holds the return address of the function this is inlined into: unique
// among the calls that are alive, and unchanged for as long as the call is.
HITCH_FAST unsigned long return_slot() {
  return reinterpret_cast<unsigned long>(__builtin_frame_address(0)) + sizeof(void*);
}

}  // namespace hitch::base
