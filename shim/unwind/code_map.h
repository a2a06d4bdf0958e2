// Which module holds an address, and where its unwind tables are. Never waits for the loader: a
// hook may run inside dlopen.
#pragma once
#include <cstdint>

#include "unwind/cfi.h"

namespace hitch::unwind {

// `function` is glibc's _dl_find_object (2.35, lock-free and async-signal-safe), or null: then only
// the modules noted are known.
void use_find_object(void* function);

// False: no module holds `pc`.
bool find_module(std::uintptr_t pc, ModuleImage& module);

}  // namespace hitch::unwind
