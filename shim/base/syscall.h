// System calls without libc: they never touch errno, are valid before libc is initialised, and
// cannot be intercepted by our own hooks. Results are the kernel's: negative errno on failure.
#pragma once
#include <sys/syscall.h>

#include "base/compiler.h"

namespace hitch::base {

HITCH_FAST long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                            long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// Pointer arguments of system_call.
template <class T>
HITCH_FAST long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// Reads a whole small file into `buffer`, zero terminated. Returns its length (at most capacity -
// 1) or a negative errno.
inline long read_small_file(const char* path, char* buffer, unsigned long capacity) {
  const long fd =
      system_call(SYS_openat, -100 /* AT_FDCWD */, word(path), 02000000 /* O_RDONLY|O_CLOEXEC */);
  if (fd < 0) return fd;
  long total = 0;
  while (static_cast<unsigned long>(total) + 1 < capacity) {
    const long n =
        system_call(SYS_read, fd, word(buffer + total), static_cast<long>(capacity) - 1 - total);
    if (n == -4 /* EINTR */) continue;
    if (n <= 0) break;
    total += n;
  }
  system_call(SYS_close, fd);
  buffer[total] = '\0';
  return total;
}

}  // namespace hitch::base
