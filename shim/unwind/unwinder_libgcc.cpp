#include <dlfcn.h>

#include "unwind/unwinder.h"

namespace hitch::unwind {
namespace {

// Itanium C++ ABI, "_Unwind_Backtrace"; libgcc_s exports it on every system with a C++ library.
struct Context;
using TraceFn = int (*)(Context*, void*);
using UnwindBacktraceFn = int (*)(TraceFn, void*);
using GetIpFn = std::uintptr_t (*)(Context*);
constexpr int kGoOn = 0;  // _URC_NO_REASON
constexpr int kStop = 4;  // _URC_NORMAL_STOP

constinit UnwindBacktraceFn g_unwind_backtrace = nullptr;
constinit GetIpFn g_get_ip = nullptr;

struct Collector {
  std::uintptr_t* addresses;
  unsigned capacity;
  unsigned used;
};

int collect(Context* context, void* argument) {
  auto* collector = static_cast<Collector*>(argument);
  if (collector->used == collector->capacity) return kStop;
  collector->addresses[collector->used++] = g_get_ip(context);
  return kGoOn;
}

}  // namespace

const char* prepare(DlopenFn open, DlsymFn find) {
  if (open == nullptr || find == nullptr) return nullptr;
  void* library = open("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  g_get_ip = reinterpret_cast<GetIpFn>(find(library, "_Unwind_GetIP"));
  if (g_get_ip == nullptr) return nullptr;
  g_unwind_backtrace = reinterpret_cast<UnwindBacktraceFn>(find(library, "_Unwind_Backtrace"));
  if (g_unwind_backtrace == nullptr) return nullptr;
  // The first capture sorts tables; pay for it now.
  std::uintptr_t warm[16];
  capture(warm, 16);
  return "libgcc";
}

unsigned capture(std::uintptr_t* addresses, unsigned capacity) {
  if (g_unwind_backtrace == nullptr) return 0;
  Collector collector{addresses, capacity, 0};
  g_unwind_backtrace(collect, &collector);
  return collector.used;
}

}  // namespace hitch::unwind
