#include "unwind/stack_bounds.h"

#include "base/syscall.h"

// Set by the dynamic loader to where the kernel put the arguments.
extern "C" void* __libc_stack_end;

namespace hitch::unwind {
namespace {

constexpr std::uintptr_t kPage = 4096;
// What grows by more at once is walked as if it were foreign: slower, not wrong.
constexpr std::uintptr_t kMostStack = std::uintptr_t{16} << 20;
// How far from a foreign page another one is taken to be foreign without asking.
constexpr std::uintptr_t kForeignReach = 64 * 1024;

constexpr std::uintptr_t page_of(std::uintptr_t address) { return address & ~(kPage - 1); }

}  // namespace

// The kernel copies the new mask from `address` before it looks at the first argument, which is
// none that exists: EFAULT or EINVAL, and no mask changes. Unlike process_vm_readv no sandbox bars
// it.
bool is_readable(std::uintptr_t address) {
  constexpr long kFault = -14;
  return base::system_call(SYS_rt_sigprocmask, ~0L, static_cast<long>(address), 0, 8) != kFault;
}

std::uintptr_t top_of_own_stack(bool is_main_thread) {
  if (is_main_thread) return reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  std::uintptr_t thread_block = 0;
  asm("movq %%fs:0, %0" : "=r"(thread_block));
  return thread_block;
}

std::uintptr_t StackBounds::extend(std::uintptr_t limit, std::uintptr_t address) {
  if (address < limit || address - limit > kMostStack) return limit;
  std::uintptr_t page = limit;
  while (page <= address) {
    if (!is_readable(page)) return limit;
    page += kPage;
  }
  return page;
}

std::uintptr_t StackBounds::slow_limit(std::uintptr_t sp, bool& foreign) {
  const std::uintptr_t page = page_of(sp);
  if (sp < low_ && low_ - sp < kMostStack &&
      (page > foreign_ ? page - foreign_ : foreign_ - page) >= kForeignReach) {
    // low_ starts out at the top, which need not be a page's start.
    std::uintptr_t at = page + kPage;
    while (at < low_ && is_readable(at)) at += kPage;
    if (at >= low_) {
      low_ = page;
      return high_;
    }
    foreign_ = page;
  }
  foreign = true;
  return page + kPage;
}

}  // namespace hitch::unwind
