#include "unwind/verify.h"

#include <dlfcn.h>

#include <atomic>
#include <type_traits>

#include "base/log.h"

namespace hitch::unwind {
namespace {

// libunwind's local unwinding interface, by the names its header gives them on x86-64.
struct Reference {
  int (*backtrace)(void**, int);
  int (*get_context)(void*);
  int (*init)(void*, void*);
  int (*step)(void*);
  int (*get_register)(void*, int, std::uintptr_t*);
};
constinit Reference g_reference{};
constinit std::atomic<unsigned> g_said = 0;

constexpr unsigned kMostReference = 512;
constexpr unsigned kMostSaid = 8;
constexpr int kRip = 16;
constexpr int kRsp = 7;

struct Stack {
  std::uintptr_t address[kMostReference];
  unsigned count = 0;
};

// unw_backtrace, from the hook's caller on. False: the caller is not in it.
bool fast_reference(std::uintptr_t first, Stack& stack) {
  void* raw[kMostReference];
  const int n = g_reference.backtrace(raw, kMostReference);
  int at = 0;
  while (at < n && reinterpret_cast<std::uintptr_t>(raw[at]) != first) ++at;
  for (stack.count = 0; at < n; ++at)
    stack.address[stack.count++] = reinterpret_cast<std::uintptr_t>(raw[at]);
  return stack.count > 0;
}

// unw_step, from the entry whose stack pointer says that its return address was at `slot`.
bool slow_reference(std::uintptr_t slot, Stack& stack) {
  alignas(16) char context[4096];
  alignas(16) char cursor[4096];
  stack.count = 0;
  if (g_reference.get_context(context) != 0 || g_reference.init(cursor, context) != 0) return false;
  bool inside = false;
  do {
    std::uintptr_t address = 0;
    std::uintptr_t sp = 0;
    if (g_reference.get_register(cursor, kRip, &address) != 0 ||
        g_reference.get_register(cursor, kRsp, &sp) != 0) {
      break;
    }
    inside = inside || sp == slot + sizeof(void*);
    if (inside && stack.count < kMostReference && address != 0)
      stack.address[stack.count++] = address;
  } while (g_reference.step(cursor) > 0);
  return stack.count > 0;
}

Check compare(const StackMemo& memo, const Stack& reference) {
  const bool marked = memo.count > 0 && memo.address[0] <= format::kStackCut;
  const unsigned count = memo.count - (marked ? 1 : 0);
  const unsigned common = count < reference.count ? count : reference.count;
  for (unsigned i = 0; i < common; ++i) {
    if (memo.address[memo.count - 1 - i] != reference.address[i]) return Check::kDifferent;
  }
  if (marked && memo.address[0] == format::kStackCut) {
    return reference.count > count ? Check::kSame : Check::kTruncated;
  }
  if (count == reference.count) return marked ? Check::kTruncated : Check::kSame;
  return Check::kTruncated;
}

void say_difference(const StackMemo& memo, const Stack& reference) {
  if (g_said.fetch_add(1, std::memory_order_relaxed) >= kMostSaid) return;
  for (unsigned i = 0; i < memo.count || i < reference.count; ++i) {
    base::Line line;
    line << "hitchtrace: stack entry " << std::uint64_t{i} << ": ours "
         << base::Hex{i < memo.count ? memo.address[memo.count - 1 - i] : 0} << ", libunwind "
         << base::Hex{i < reference.count ? reference.address[i] : 0};
    base::say(line);
  }
}

}  // namespace

bool prepare_verification(DlopenFn open, DlsymFn find) {
  if (open == nullptr || find == nullptr) return false;
  void* library = open("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  Reference reference{};
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(library, name));
    return function != nullptr;
  };
  if (!bind(reference.backtrace, "unw_backtrace") ||
      !bind(reference.get_context, "_Ux86_64_getcontext") ||
      !bind(reference.init, "_ULx86_64_init_local") || !bind(reference.step, "_ULx86_64_step") ||
      !bind(reference.get_register, "_ULx86_64_get_reg")) {
    return false;
  }
  g_reference = reference;
  return true;
}

bool is_verifying() { return g_reference.backtrace != nullptr; }

Check verify(const StackMemo& memo, std::uintptr_t slot) {
  Stack reference;
  Check result = Check::kDifferent;
  if (memo.count > 0 && fast_reference(memo.address[memo.count - 1], reference))
    result = compare(memo, reference);
  // libunwind's fast path guesses where it has no rule; its slow one is the judge.
  if (result != Check::kSame && slow_reference(slot, reference)) result = compare(memo, reference);
  if (result != Check::kSame) say_difference(memo, reference);
  return result;
}

}  // namespace hitch::unwind
