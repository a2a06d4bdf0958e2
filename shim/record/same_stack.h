// Tells a hook scope that was left by longjmp from a signal handler running above it.
#pragma once
#include <cstdint>

namespace hitch::record {

// True only when it is certain that both stack pointers lie on the thread's own stack: the thread
// is not on its alternate signal stack, and one mapping holds both. Costs two system calls or more;
// for paths that are taken at most once per accident.
bool on_same_stack(std::uintptr_t sp, std::uintptr_t other);

// Reads one word of this process without faulting. False when it is not mapped, or the system call
// is barred.
bool read_own_word(std::uintptr_t address, std::uintptr_t& value);

}  // namespace hitch::record
