#include <dlfcn.h>

#include "unwind/unwinder.h"

namespace hitch::unwind {
namespace {

// libunwind's unw_backtrace (its documentation: like backtrace(), fast path with a per-thread
// cache).
using BacktraceFn = int (*)(void**, int);
// libgcc: Itanium C++ ABI, "_Unwind_Backtrace".
struct Context;
using TraceFn = int (*)(Context*, void*);
using UnwindBacktraceFn = int (*)(TraceFn, void*);
using GetIpFn = std::uintptr_t (*)(Context*);

constinit BacktraceFn g_backtrace = nullptr;
constinit UnwindBacktraceFn g_unwind_backtrace = nullptr;
constinit GetIpFn g_get_ip = nullptr;

struct Collector {
  std::uintptr_t* addresses;
  unsigned capacity;
  unsigned used;
};

int collect(Context* context, void* argument) {
  auto* collector = static_cast<Collector*>(argument);
  if (collector->used == collector->capacity) return 4;  // _URC_END_OF_STACK
  collector->addresses[collector->used++] = g_get_ip(context);
  return 0;
}

}  // namespace

const char* prepare(DlopenFn open, DlsymFn find) {
  if (open == nullptr || find == nullptr) return nullptr;
  if (void* library = open("libunwind.so.8", RTLD_NOW | RTLD_LOCAL)) {
    g_backtrace = reinterpret_cast<BacktraceFn>(find(library, "unw_backtrace"));
  }
  if (g_backtrace == nullptr) {
    if (void* library = open("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL)) {
      g_get_ip = reinterpret_cast<GetIpFn>(find(library, "_Unwind_GetIP"));
      if (g_get_ip != nullptr) {
        g_unwind_backtrace =
            reinterpret_cast<UnwindBacktraceFn>(find(library, "_Unwind_Backtrace"));
      }
    }
  }
  // The first capture builds caches; pay for it now.
  std::uintptr_t warm[16];
  capture(warm, 16);
  if (g_backtrace != nullptr) return "libunwind";
  return g_unwind_backtrace != nullptr ? "libgcc" : nullptr;
}

unsigned capture(std::uintptr_t* addresses, unsigned capacity) {
  if (g_backtrace != nullptr) {
    const int n = g_backtrace(reinterpret_cast<void**>(addresses), static_cast<int>(capacity));
    return n > 0 ? static_cast<unsigned>(n) : 0;
  }
  if (g_unwind_backtrace != nullptr) {
    Collector collector{addresses, capacity, 0};
    g_unwind_backtrace(collect, &collector);
    return collector.used;
  }
  return 0;
}

}  // namespace hitch::unwind
