#include <cerrno>

#include "record/recorder.h"
#include "unwind/verify.h"

namespace hitch::record {
namespace {

using format::SharedHeader;

// rbp as the hook's caller left it. Every function of the shim links its stack entry through rbp,
// so the chain leads to the hook, whose return address lies at `slot`.
std::uintptr_t callers_rbp(std::uintptr_t slot) {
  constexpr unsigned kMost = 16;
  auto entry = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (unsigned i = 0; i < kMost && entry + sizeof(void*) < slot; ++i)
    entry = *reinterpret_cast<const std::uintptr_t*>(entry);
  return entry + sizeof(void*) == slot ? *reinterpret_cast<const std::uintptr_t*>(entry) : 0;
}

// The pool is running low: says once that the stack is not known, instead of what it is.
void shed(const HookScope& scope, std::uint64_t key) {
  ThreadState& state = scope.state();
  unwind::StackMemo& memo = *state.memo;
  base::add_once(state.slot->shed_stacks, 1);
  memo.recorded = 0;
  if (memo.recorder_count == 0) return;
  const std::uint64_t words[2] = {format::make_head(BufferKind::kStack, key), 0};
  if (append(scope, words, 2)) memo.recorder_count = 0;
}

void check(const HookScope& scope, std::uintptr_t slot) {
  ThreadState& state = scope.state();
  const int saved_errno = errno;
  unwind::Check result{};
  {
    const OwnWork own(scope);
    result = unwind::verify(*state.memo, slot);
  }
  errno = saved_errno;
  SharedHeader& header = *state.header;
  header.stacks_checked.fetch_add(1, std::memory_order_relaxed);
  if (result == unwind::Check::kDifferent)
    header.stacks_different.fetch_add(1, std::memory_order_relaxed);
  if (result == unwind::Check::kTruncated)
    header.stacks_truncated.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void record_stack(const HookScope& scope, std::uint64_t head) {
  ThreadState& state = scope.state();
  const std::uint64_t key = format::key_of(head);
  if (HITCH_UNLIKELY(state.header->free_chunks.count.load(std::memory_order_relaxed) <
                     state.header->shed_below)) {
    return shed(scope, key);
  }
  unwind::StackMemo& memo = *state.memo;
  const std::uintptr_t slot = state.guard;
  unwind::walk(memo, slot, callers_rbp(slot), g_process->stack_depth);
  if (HITCH_UNLIKELY(unwind::is_verifying())) check(scope, slot);
  const unsigned kept = memo.recorded;
  const unsigned fresh = memo.count - kept;
  if (fresh == 0 && memo.recorder_count == kept) return;
  std::uint64_t words[format::kMaxRecordWords];
  words[0] = format::make_head(BufferKind::kStack, key);
  words[1] = 0;
  for (unsigned i = 0; i < fresh; ++i) words[1 + i] = memo.address[kept + i] & format::kAddressMask;
  words[1] |= std::uint64_t{kept} << 48 | std::uint64_t{fresh} << 56;
  if (!append(scope, words, fresh > 1 ? 1 + fresh : 2)) return;
  memo.recorded = memo.recorder_count = memo.count;
}

}  // namespace hitch::record
