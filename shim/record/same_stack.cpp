#include "record/same_stack.h"

#include <sys/uio.h>

#include <csignal>

#include "base/syscall.h"

namespace hitch::record {
namespace {

// Finds the line of /proc/self/maps that covers `address`; false when there is none.
bool find_mapping(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) {
  const long fd = base::system_call(SYS_openat, -100, base::word("/proc/self/maps"), 02000000);
  if (fd < 0) return false;
  char buffer[1024];
  std::uintptr_t numbers[2] = {0, 0};
  unsigned field = 0;  // 0 start, 1 end, 2 rest of the line
  bool found = false;
  for (;;) {
    const long n = base::system_call(SYS_read, fd, base::word(buffer), sizeof buffer);
    if (n == -4) continue;
    if (n <= 0) break;
    for (long i = 0; i < n && !found; ++i) {
      const char c = buffer[i];
      if (c == '\n') {
        field = 0;
        numbers[0] = numbers[1] = 0;
      } else if (field == 2) {
        continue;
      } else if (c == '-' || c == ' ') {
        if (++field == 2 && address >= numbers[0] && address < numbers[1]) found = true;
      } else {
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        numbers[field] = numbers[field] << 4 | static_cast<std::uintptr_t>(digit);
      }
    }
    if (found) break;
  }
  base::system_call(SYS_close, fd);
  start = numbers[0];
  end = numbers[1];
  return found;
}

}  // namespace

bool read_own_word(std::uintptr_t address, std::uintptr_t& value) {
  iovec local{&value, sizeof value};
  iovec remote{reinterpret_cast<void*>(address), sizeof value};
  return base::system_call(SYS_process_vm_readv, base::system_call(SYS_getpid), base::word(&local),
                           1, base::word(&remote), 1) == static_cast<long>(sizeof value);
}

bool on_same_stack(std::uintptr_t sp, std::uintptr_t other) {
  stack_t alternate{};
  if (base::system_call(SYS_sigaltstack, 0, base::word(&alternate)) != 0) return false;
  if ((alternate.ss_flags & SS_ONSTACK) != 0) return false;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  return find_mapping(sp, start, end) && other >= start && other < end;
}

}  // namespace hitch::record
