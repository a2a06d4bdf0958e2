// libunwind's unw_backtrace: several times faster than libgcc's, and not the default for one
// reason. Version 1.6.2 keeps a pipe open for checking addresses and uses its numbers again without
// asking: in a game that has closed all descriptors those numbers may belong to a save file, and
// get a byte written to it.
#include <dlfcn.h>

#include "unwind/unwinder.h"

namespace hitch::unwind {
namespace {

using BacktraceFn = int (*)(void**, int);
constinit BacktraceFn g_backtrace = nullptr;

}  // namespace

const char* prepare(DlopenFn open, DlsymFn find) {
  if (open == nullptr || find == nullptr) return nullptr;
  void* library = open("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  g_backtrace = reinterpret_cast<BacktraceFn>(find(library, "unw_backtrace"));
  if (g_backtrace == nullptr) return nullptr;
  // The first capture builds caches; pay for it now.
  std::uintptr_t warm[16];
  capture(warm, 16);
  return "libunwind";
}

unsigned capture(std::uintptr_t* addresses, unsigned capacity) {
  if (g_backtrace == nullptr) return 0;
  const int n = g_backtrace(reinterpret_cast<void**>(addresses), static_cast<int>(capacity));
  return n > 0 ? static_cast<unsigned>(n) : 0;
}

}  // namespace hitch::unwind
