// The functions that would have served the game without us: glibc's, or those of an allocator
// linked or preloaded beneath. Found once, by elf_lookup, before the first call is forwarded.
#pragma once
#include <time.h>

#include <cstddef>

namespace hitch::libc {

struct RealLibc {
#define HITCH_REAL(name, result, parameters) result(*name) parameters;
#include "libc/libc_symbols.def"
#undef HITCH_REAL
};

// Zero until resolve_real_libc().
extern RealLibc g_real;

// Fills g_real; idempotent, so racing first calls are harmless. Afterwards every entry of the
// malloc and mmap families can be called: what is missing is served from the bootstrap arena.
// Entries of the loader and of sleeping may stay null. False when the allocator itself had to be
// replaced that way.
bool resolve_real_libc();

// Looks for `name` in every loaded module but ours; for entries whose library came after start-up.
void* find_elsewhere(const char* name);

}  // namespace hitch::libc
