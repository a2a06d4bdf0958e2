// Complete callstacks, for outliers: after the timed interval, never while a lock is held. The
// build selects unwinder_libgcc.cpp, unwinder_libunwind.cpp or unwinder_none.cpp.
#pragma once
#include <cstdint>

namespace hitch::unwind {

// Looks for the unwinder and opens it RTLD_LOCAL, so that it can never take over the game's
// exceptions. May allocate and take the loader's lock: call it from the library's constructor only.
// Returns its name for reports, or nullptr when there is none; capture() then yields nothing.
using DlopenFn = void* (*)(const char*, int);
using DlsymFn = void* (*)(void*, const char*);
const char* prepare(DlopenFn open, DlsymFn find);

// Writes return addresses, innermost first, and returns how many; at most `capacity`. The caller's
// own hook is included: skip entries up to the call site. Not async-signal-safe in every unwinder:
// the caller holds a HookScope, so a signal handler's nested hook never gets here.
unsigned capture(std::uintptr_t* addresses, unsigned capacity);

}  // namespace hitch::unwind
