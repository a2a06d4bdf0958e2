// Writes what a hook saw: exact counters into the thread's shared slot, and one record into its
// chunk.
//
//   traced_alloc / traced_free / traced_realloc   the hooks' whole body, inlined into each:
//     thread attached, no hook running, which mode?     three loads, one branch each
//     *_default, entered by a jump:
//       real call between two clock reads
//       count: bucket, ticks, bytes                     three read-modify-writes
//       write record                                    3..4 words and one release store
//     counts_only: two counters, and a jump to the real function
//   everything else, each in a function of its own (recorder.cpp and the *_any templates):
//     open_slow           first call of a thread, forked child, nested call, scope left by longjmp
//     *_any               other modes: level count, untimed calls, no invariant TSC
//     record_alloc_slow   the chunk is full, a value is wide, the call was slow
//     record_release_slow the chunk is full
//     flush_epoch         level count, first call after the frame changed
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/compiler.h"
#include "format/buffer_records.h"
#include "record/hook_scope.h"
#include "record/process.h"
#include "record/thread_state.h"

namespace hitch::record {

using format::BufferKind;
using format::Op;

// Code range of the module that defines the next operator new: a malloc called from there, soon
// after one of our operator entries, belongs to that entry's caller. Pinned names: tail_jump.S
// reads them.
extern "C" {
[[gnu::visibility("hidden")]] extern constinit std::uintptr_t hitch_plumbing_start;
[[gnu::visibility("hidden")]] extern constinit std::uintptr_t hitch_plumbing_bytes;
}

// The thread's state if it may record after all, else nullptr: see count_untracked. `slot` is the
// return slot of the hook that asks.
HITCH_SLOW ThreadState* open_slow(std::uintptr_t slot);
HITCH_SLOW void note_gap(const HookScope& scope, std::uint64_t key, std::uint64_t bytes,
                         std::uint64_t ticks);
// `block` is an address only: a released block's pointer is no pointer any more.
HITCH_SLOW void record_outlier(const HookScope& scope, Op op, std::uintptr_t block,
                               std::size_t size, std::uintptr_t caller, std::uint64_t ticks);
// Writes an allocation or the outcome of a realloc whatever its values, and the outlier if it is
// one. `head` is word 0 of the record.
HITCH_SLOW void record_alloc_slow(const HookScope& scope, std::uint64_t head, const void* block,
                                  std::size_t size, std::uintptr_t caller, std::uint64_t ticks);
// False: no chunk is free, nothing was written.
HITCH_SLOW bool record_release_slow(const HookScope& scope, std::uint64_t head, const void* block,
                                    std::uintptr_t caller);
// Brings the recorder's idea of the thread's callstack up to date, for the record that comes next
// and whose key is in `head`. The scope's hook must be the one running.
HITCH_SLOW void record_stack(const HookScope& scope, std::uint64_t head);
HITCH_SLOW void flush_epoch(const HookScope& scope);
// A call that cannot be recorded one by one: nested in a hook, or of a thread without a slot.
enum class Call { kAlloc, kFree, kRealloc };
HITCH_SLOW void count_untracked(Call call, std::size_t bytes);

// Appends a record of any length up to format::kMaxRecordWords. False: no chunk, the record is
// lost.
bool append(const HookScope& scope, const std::uint64_t* words, unsigned count);

HITCH_FAST std::uint64_t now(const ThreadState& state) {
  return HITCH_LIKELY((state.mode & kSlowClock) == 0) ? base::read_tsc()
                                                      : base::read_monotonic_raw();
}

// The calling thread's state when it may record, else nullptr.
HITCH_FAST ThreadState* enter(std::uintptr_t slot = base::return_slot()) {
  ThreadState* state = hitch_thread_state;
  if (HITCH_LIKELY(state != nullptr && state->guard == kIdle)) return state;
  return open_slow(slot);
}

HITCH_FAST void publish(ThreadState& state, std::uint64_t* next) {
  state.write = next;
  // The chunk was last read by the recorder's core: fetch the line that is written some events from
  // now.
  asm volatile("prefetchw %0" : : "m"(next[64]));
  state.slot->published.store(state.publish_bias + reinterpret_cast<std::uintptr_t>(next),
                              std::memory_order_release);
}

HITCH_FAST void count_timed(format::CallCounters& counters, std::uint64_t ticks) {
  const unsigned width = 64u - static_cast<unsigned>(__builtin_clzll(ticks | 1));
  base::add_once(
      counters.buckets[width < format::kLatencyBuckets ? width : format::kLatencyBuckets - 1], 1);
  base::add_once(counters.ticks, ticks);
}

HITCH_FAST void count_untimed(format::CallCounters& counters) {
  base::add_once(counters.buckets[0], 1);
}

// Words 1 and 2 of event records: an address with half of the previous release's duration on top of
// each.
HITCH_FAST void put_addresses(std::uint64_t* words, std::uint64_t block, std::uint64_t caller,
                              std::uint64_t previous_free) {
  words[1] = (block & format::kAddressMask) | previous_free << 48;
  words[2] = (caller & format::kAddressMask) | (previous_free >> 16) << 48;
}

HITCH_FAST std::uint64_t take_previous_free(ThreadState& state) {
  const std::uint64_t ticks = state.slot->pending_free_ticks;
  state.slot->pending_free_ticks = 0;
  return HITCH_LIKELY(ticks <= 0xffffffffu) ? ticks : 0xffffffffu;
}

HITCH_FAST bool has_room(const ThreadState& state) { return state.write <= state.limit; }

HITCH_FAST void write_alloc(ThreadState& state, std::uint64_t head, const void* block,
                            std::size_t size, std::uintptr_t caller, std::uint64_t ticks) {
  std::uint64_t* words = state.write;
  words[0] = head;
  put_addresses(words, reinterpret_cast<std::uint64_t>(block), caller, take_previous_free(state));
  words[3] = size | ticks << 32;
  publish(state, words + format::kAllocWords);
}

HITCH_FAST void write_release(ThreadState& state, std::uint64_t head, const void* block,
                              std::uintptr_t caller) {
  std::uint64_t* words = state.write;
  words[0] = head;
  put_addresses(words, reinterpret_cast<std::uint64_t>(block), caller, take_previous_free(state));
  publish(state, words + format::kFreeWords);
}

HITCH_FAST void record_alloc(const HookScope& scope, std::uint64_t head, const void* block,
                             std::size_t size, std::uintptr_t caller, std::uint64_t ticks) {
  ThreadState& state = scope.state();
  if (HITCH_LIKELY((state.mode & kStacks) != 0)) record_stack(scope, head);
  if (HITCH_LIKELY(has_room(state) && ((size | ticks) >> 32) == 0 && ticks < state.outlier_ticks)) {
    write_alloc(state, head, block, size, caller, ticks);
  } else {
    record_alloc_slow(scope, head, block, size, caller, ticks);
  }
}

// The release half of free and realloc: published before the real call, so that no other thread's
// allocation of the same block can be seen first. False: it could not be written.
HITCH_FAST bool record_release(const HookScope& scope, std::uint64_t head, const void* block,
                               std::uintptr_t caller) {
  if (HITCH_UNLIKELY(!has_room(scope.state())))
    return record_release_slow(scope, head, block, caller);
  write_release(scope.state(), head, block, caller);
  return true;
}

// The true call site and operation of a malloc or free that a libstdc++ operator ends in.
HITCH_FAST void see_through_operator(ThreadState& state, std::uintptr_t& caller, Op& op) {
  if (HITCH_LIKELY(caller - hitch_plumbing_start < hitch_plumbing_bytes)) {
    // Entered above us, on this stack, and close: the operator that is running.
    if (state.note_sp - base::stack_pointer() < 1024) {
      caller = state.note_caller;
      op = static_cast<Op>(state.note_op);
      state.note_sp = 0;
    }
  }
}

// Modes that the inlined bodies serve; any other goes through the *_any templates.
constexpr std::uint32_t kModeMask = kTimeAlloc | kTimeFree | kRecord | kSlowClock;
constexpr std::uint32_t kDefaultMode = kTimeAlloc | kTimeFree | kRecord;

HITCH_FAST bool is_default(const ThreadState& state) {
  return (state.mode & kModeMask) == kDefaultMode;
}

// Level count: nothing but the thread's counters, flushed when the frame has changed.
HITCH_FAST void check_epoch(const HookScope& scope) {
  const ThreadState& state = scope.state();
  if (HITCH_UNLIKELY(state.epoch != state.header->frame_epoch.load(std::memory_order_relaxed))) {
    flush_epoch(scope);
  }
}

// Bytes to count before it is known whether the call succeeds: none for what no address space can
// hold.
HITCH_FAST std::size_t plausible(std::size_t size) { return (size >> 47) == 0 ? size : 0; }

// Level count within one frame: no record, so no scope either, and the real call can be a jump.
HITCH_FAST bool counts_only(const ThreadState& state) {
  return (state.mode & kRecord) == 0 &&
         state.epoch == state.header->frame_epoch.load(std::memory_order_relaxed);
}

template <class Real>
[[gnu::noinline]] void* traced_alloc_any(std::uintptr_t slot, Op op, std::size_t size,
                                         std::uintptr_t caller, Real real) {
  ThreadState* state = enter(slot);
  if (state == nullptr) {
    void* block = real();
    count_untracked(Call::kAlloc, block != nullptr ? size : 0);
    return block;
  }
  const HookScope scope(*state, slot);
  format::ThreadSlot& counters = *state->slot;
  if ((state->mode & kRecord) == 0) {
    check_epoch(scope);
    void* block = real();
    count_untimed(counters.alloc);
    base::add_once(counters.alloc_bytes, block != nullptr ? size : 0);
    return block;
  }
  see_through_operator(*state, caller, op);
  const bool timed = (state->mode & kTimeAlloc) != 0;
  const std::uint64_t t0 = timed ? now(*state) : 0;
  void* block = real();
  const std::uint64_t t1 = now(*state);
  const std::uint64_t ticks = timed ? t1 - t0 : 0;
  timed ? count_timed(counters.alloc, ticks) : count_untimed(counters.alloc);
  base::add_once(counters.alloc_bytes, block != nullptr ? size : 0);
  record_alloc(scope, format::make_head(BufferKind::kAlloc, op, t1 - state->tsc_base), block, size,
               caller, ticks);
  return block;
}

template <class Real>
[[gnu::noinline]] void* traced_alloc_default(ThreadState* state, Op op, std::size_t size,
                                             std::uintptr_t caller, Real real) {
  const HookScope scope(*state);
  see_through_operator(*state, caller, op);
  const std::uint64_t t0 = base::read_tsc();
  void* block = real();
  const std::uint64_t t1 = base::read_tsc();
  format::ThreadSlot& slot = *state->slot;
  count_timed(slot.alloc, t1 - t0);
  base::add_once(slot.alloc_bytes, block != nullptr ? size : 0);
  record_alloc(scope, format::make_head(BufferKind::kAlloc, op, t1 - state->tsc_base), block, size,
               caller, t1 - t0);
  return block;
}

// Whole body of an allocating hook. `real` makes the call and returns the block or nullptr.
template <class Real>
HITCH_FAST void* traced_alloc(Op op, std::size_t size, std::uintptr_t caller, Real real) {
  ThreadState* state = hitch_thread_state;
  if (HITCH_LIKELY(state != nullptr && state->guard == kIdle)) {
    if (HITCH_LIKELY(is_default(*state)))
      return traced_alloc_default(state, op, size, caller, real);
    if (counts_only(*state)) {
      base::add_once(state->slot->alloc.buckets[0], 1);
      base::add_once(state->slot->alloc_bytes, plausible(size));
      return real();
    }
  }
  return traced_alloc_any(base::return_slot(), op, size, caller, real);
}

template <class Real>
[[gnu::noinline]] void traced_free_any(std::uintptr_t slot, Op op, void* block,
                                       std::uintptr_t caller, Real real) {
  ThreadState* state = enter(slot);
  if (state == nullptr) {
    count_untracked(Call::kFree, 0);
    real();
    return;
  }
  const HookScope scope(*state, slot);
  format::ThreadSlot& counters = *state->slot;
  if ((state->mode & kRecord) == 0) {
    check_epoch(scope);
    count_untimed(counters.free);
    real();
    return;
  }
  see_through_operator(*state, caller, op);
  const std::uint64_t t0 = now(*state);
  const std::uint64_t key = t0 - state->tsc_base;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const bool written =
      record_release(scope, format::make_head(BufferKind::kFree, op, key), block, caller);
  real();
  const bool timed = (state->mode & kTimeFree) != 0;
  const std::uint64_t ticks = timed ? now(*state) - t0 : 0;
  timed ? count_timed(counters.free, ticks) : count_untimed(counters.free);
  if (written) {
    counters.pending_free_ticks = ticks;
  } else {
    note_gap(scope, key, 0, ticks);
  }
  if (ticks >= state->outlier_ticks) record_outlier(scope, op, address, 0, caller, ticks);
}

template <class Real>
[[gnu::noinline]] void traced_free_default(ThreadState* state, Op op, void* block,
                                           std::uintptr_t caller, Real real) {
  const HookScope scope(*state);
  see_through_operator(*state, caller, op);
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const std::uint64_t t0 = base::read_tsc();
  write_release(*state, format::make_head(BufferKind::kFree, op, t0 - state->tsc_base), block,
                caller);
  real();
  const std::uint64_t ticks = base::read_tsc() - t0;
  format::ThreadSlot& slot = *state->slot;
  count_timed(slot.free, ticks);
  slot.pending_free_ticks = ticks;
  if (HITCH_UNLIKELY(ticks >= state->outlier_ticks))
    record_outlier(scope, op, address, 0, caller, ticks);
}

// Whole body of a releasing hook; `block` is not null.
template <class Real>
HITCH_FAST void traced_free(Op op, void* block, std::uintptr_t caller, Real real) {
  ThreadState* state = hitch_thread_state;
  if (HITCH_LIKELY(state != nullptr && state->guard == kIdle)) {
    if (HITCH_LIKELY(is_default(*state) && has_room(*state))) {
      return traced_free_default(state, op, block, caller, real);
    }
    if (counts_only(*state)) {
      base::add_once(state->slot->free.buckets[0], 1);
      return real();
    }
  }
  traced_free_any(base::return_slot(), op, block, caller, real);
}

// Whole body of a reallocating hook; `old_block` is not null.
template <class Real>
HITCH_FAST void* traced_realloc(void* old_block, std::size_t size, std::uintptr_t caller,
                                Real real) {
  ThreadState* state = enter();
  if (HITCH_UNLIKELY(state == nullptr)) {
    void* block = real();
    count_untracked(Call::kRealloc, block != nullptr ? size : 0);
    return block;
  }
  const HookScope scope(*state);
  format::ThreadSlot& slot = *state->slot;
  if (HITCH_UNLIKELY((state->mode & kRecord) == 0)) {
    check_epoch(scope);
    void* block = real();
    count_untimed(slot.realloc);
    base::add_once(slot.realloc_bytes, block != nullptr ? size : 0);
    return block;
  }
  const std::uint64_t t0 = now(*state);
  record_release(scope, format::make_head(BufferKind::kReallocBegin, t0 - state->tsc_base),
                 old_block, caller);
  void* block = real();
  const std::uint64_t t1 = now(*state);
  const bool timed = (state->mode & kTimeAlloc) != 0;
  const std::uint64_t ticks = timed ? t1 - t0 : 0;
  timed ? count_timed(slot.realloc, ticks) : count_untimed(slot.realloc);
  base::add_once(slot.realloc_bytes, block != nullptr ? size : 0);
  BufferKind kind = BufferKind::kReallocMoved;
  const void* survivor = block;
  if (block == nullptr) {
    kind = size == 0 ? BufferKind::kReallocFreed : BufferKind::kReallocFailed;
    survivor = size == 0 ? nullptr : old_block;
  } else if (block == old_block) {
    kind = BufferKind::kReallocInPlace;
  }
  record_alloc(scope, format::make_head(kind, t1 - state->tsc_base), survivor, size, caller, ticks);
  return block;
}

}  // namespace hitch::record
