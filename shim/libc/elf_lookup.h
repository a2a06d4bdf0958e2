// Finds symbols by walking the loader's own list of modules: no dlsym, no lock, no allocation, so
// it works in the very first malloc of a process, inside the loader. For start-up, while the
// process has one thread: the list is not protected against a concurrent dlopen.
#pragma once
#include <link.h>

#include <cstdint>

namespace hitch::libc {

// This library's entry in the loader's list; nullptr when it cannot be found (the list is not set
// up).
const link_map* own_module();

// First module of the process (the executable).
const link_map* first_module();

// Address of the function `name` as `module` defines it (default version preferred), or nullptr.
void* find_in_module(const link_map* module, const char* name);

// What dlsym(RTLD_NEXT, name) would answer for this library: the definition in the first module
// after it.
void* find_next(const char* name);

// What a fresh reference to `name` from the executable binds to; `definer` receives the module.
void* find_default(const char* name, const link_map** definer);

// Mapped address range of a module, from its program headers. False when they cannot be read.
bool module_range(const link_map* module, std::uintptr_t& start, std::uintptr_t& end);

// The module of the list that maps `address`, or nullptr.
const link_map* module_of(std::uintptr_t address);

}  // namespace hitch::libc
