// Writes what a hook saw: exact counters into the thread's shared slot, and one record into its
// chunk.
//
//   traced_alloc / traced_free / traced_realloc      the hooks' whole body, inlined into each
//     enter          thread attached and no hook running?      two loads, one branch
//     real call between two clock reads
//     count          bucket, ticks, bytes                      three read-modify-writes
//     write record   3..4 words and one release store
//   slow paths, each in a function of its own (recorder.cpp):
//     open_slow      first call of a thread, forked child, nested call, scope left by longjmp
//     next_chunk     the chunk is full
//     record_wide    size or duration beyond 32 bits
//     record_outlier the call was slow: callstack
//     flush          level count, first call after the frame changed
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

HITCH_SLOW ThreadState* open_slow();
HITCH_SLOW bool next_chunk(const HookScope& scope, unsigned words);
HITCH_SLOW void note_gap(const HookScope& scope, std::uint64_t key, std::uint64_t bytes,
                         std::uint64_t ticks);
HITCH_SLOW void record_wide(const HookScope& scope, std::uint64_t head, std::uint64_t block,
                            std::uint64_t caller, std::uint64_t size, std::uint64_t ticks);
HITCH_SLOW void record_outlier(const HookScope& scope, Op op, const void* block, std::size_t size,
                               std::uintptr_t caller, std::uint64_t ticks);
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
HITCH_FAST ThreadState* enter() {
  ThreadState* state = hitch_thread_state;
  if (HITCH_LIKELY(state != nullptr && state->guard == kIdle)) return state;
  return open_slow();
}

HITCH_FAST void publish(ThreadState& state, std::uint64_t* next) {
  state.write = next;
  state.slot->published.store(state.publish_bias + reinterpret_cast<std::uintptr_t>(next),
                              std::memory_order_release);
}

HITCH_FAST void count_call(format::CallCounters& counters, std::uint64_t ticks, bool timed) {
  if (timed) {
    const unsigned width = 64u - static_cast<unsigned>(__builtin_clzll(ticks | 1));
    const unsigned bucket =
        HITCH_LIKELY(width < format::kLatencyBuckets) ? width : format::kLatencyBuckets - 1;
    base::add_once(counters.buckets[bucket], 1);
    base::add_once(counters.ticks, ticks);
  } else {
    base::add_once(counters.buckets[0], 1);
  }
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

// Room for an event record (five words at most)?
HITCH_FAST bool make_room(const HookScope& scope) {
  return HITCH_LIKELY(scope.state().write <= scope.state().limit) || next_chunk(scope, 5);
}

HITCH_FAST void record_alloc(const HookScope& scope, std::uint64_t kind, Op op, const void* block,
                             std::size_t size, std::uintptr_t caller, std::uint64_t t1,
                             std::uint64_t ticks) {
  ThreadState& state = scope.state();
  const std::uint64_t key = t1 - state.tsc_base;
  const std::uint64_t head = key << 8 | kind;
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (HITCH_UNLIKELY(!make_room(scope))) {
    note_gap(scope, key, size, ticks);
  } else if (HITCH_LIKELY(((size | ticks) >> 32) == 0)) {
    std::uint64_t* words = state.write;
    words[0] = head;
    put_addresses(words, address, caller, take_previous_free(state));
    words[3] = size | ticks << 32;
    publish(state, words + format::kAllocWords);
  } else {
    record_wide(scope, head, address, caller, size, ticks);
  }
  if (HITCH_UNLIKELY(ticks >= state.outlier_ticks))
    record_outlier(scope, op, block, size, caller, ticks);
}

// The release half of free and realloc: published before the real call, so that no other thread's
// allocation of the same block can be seen first. Returns false when it could not be written.
HITCH_FAST bool record_release(const HookScope& scope, std::uint64_t kind, const void* block,
                               std::uintptr_t caller, std::uint64_t t0) {
  ThreadState& state = scope.state();
  if (HITCH_UNLIKELY(!make_room(scope))) return false;
  std::uint64_t* words = state.write;
  words[0] = (t0 - state.tsc_base) << 8 | kind;
  put_addresses(words, reinterpret_cast<std::uint64_t>(block), caller, take_previous_free(state));
  publish(state, words + format::kFreeWords);
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

// Whole body of an allocating hook. `real` makes the call and returns the block or nullptr.
template <class Real>
HITCH_FAST void* traced_alloc(Op op, std::size_t size, std::uintptr_t caller, Real real) {
  ThreadState* state = enter();
  if (HITCH_UNLIKELY(state == nullptr)) {
    void* block = real();
    count_untracked(Call::kAlloc, size);
    return block;
  }
  const HookScope scope(*state);
  format::ThreadSlot& slot = *state->slot;
  const std::uint32_t mode = state->mode;
  if (HITCH_UNLIKELY((mode & kRecord) == 0)) {
    if (HITCH_UNLIKELY(state->epoch !=
                       state->header->frame_epoch.load(std::memory_order_relaxed))) {
      flush_epoch(scope);
    }
    void* block = real();
    base::add_once(slot.alloc.buckets[0], 1);
    base::add_once(slot.alloc_bytes, size);
    return block;
  }
  see_through_operator(*state, caller, op);
  const bool timed = (mode & kTimeAlloc) != 0;
  const std::uint64_t t0 = timed ? now(*state) : 0;
  void* block = real();
  const std::uint64_t t1 = now(*state);
  const std::uint64_t ticks = timed ? t1 - t0 : 0;
  count_call(slot.alloc, ticks, timed);
  base::add_once(slot.alloc_bytes, size);
  record_alloc(scope,
               static_cast<std::uint64_t>(BufferKind::kAlloc) | static_cast<std::uint64_t>(op), op,
               block, size, caller, t1, ticks);
  return block;
}

// Whole body of a releasing hook; `block` is not null.
template <class Real>
HITCH_FAST void traced_free(Op op, void* block, std::uintptr_t caller, Real real) {
  ThreadState* state = enter();
  if (HITCH_UNLIKELY(state == nullptr)) {
    count_untracked(Call::kFree, 0);
    real();
    return;
  }
  const HookScope scope(*state);
  format::ThreadSlot& slot = *state->slot;
  const std::uint32_t mode = state->mode;
  if (HITCH_UNLIKELY((mode & kRecord) == 0)) {
    if (HITCH_UNLIKELY(state->epoch !=
                       state->header->frame_epoch.load(std::memory_order_relaxed))) {
      flush_epoch(scope);
    }
    base::add_once(slot.free.buckets[0], 1);
    real();
    return;
  }
  see_through_operator(*state, caller, op);
  const std::uint64_t t0 = now(*state);
  const bool written = record_release(
      scope, static_cast<std::uint64_t>(BufferKind::kFree) | static_cast<std::uint64_t>(op), block,
      caller, t0);
  real();
  const bool timed = (mode & kTimeFree) != 0;
  const std::uint64_t ticks = timed ? now(*state) - t0 : 0;
  count_call(slot.free, ticks, timed);
  if (HITCH_LIKELY(written)) {
    slot.pending_free_ticks = ticks;
  } else {
    note_gap(scope, t0 - state->tsc_base, 0, ticks);
  }
  if (HITCH_UNLIKELY(ticks >= state->outlier_ticks))
    record_outlier(scope, op, block, 0, caller, ticks);
}

// Whole body of a reallocating hook; `old_block` is not null.
template <class Real>
HITCH_FAST void* traced_realloc(void* old_block, std::size_t size, std::uintptr_t caller,
                                Real real) {
  ThreadState* state = enter();
  if (HITCH_UNLIKELY(state == nullptr)) {
    void* block = real();
    count_untracked(Call::kRealloc, size);
    return block;
  }
  const HookScope scope(*state);
  format::ThreadSlot& slot = *state->slot;
  const std::uint32_t mode = state->mode;
  if (HITCH_UNLIKELY((mode & kRecord) == 0)) {
    if (HITCH_UNLIKELY(state->epoch !=
                       state->header->frame_epoch.load(std::memory_order_relaxed))) {
      flush_epoch(scope);
    }
    void* block = real();
    base::add_once(slot.realloc.buckets[0], 1);
    base::add_once(slot.realloc_bytes, size);
    return block;
  }
  const std::uint64_t t0 = now(*state);
  record_release(scope, static_cast<std::uint64_t>(BufferKind::kReallocBegin), old_block, caller,
                 t0);
  void* block = real();
  const std::uint64_t t1 = now(*state);
  const bool timed = (mode & kTimeAlloc) != 0;
  const std::uint64_t ticks = timed ? t1 - t0 : 0;
  count_call(slot.realloc, ticks, timed);
  base::add_once(slot.realloc_bytes, size);
  BufferKind kind = BufferKind::kReallocMoved;
  const void* survivor = block;
  if (block == nullptr) {
    kind = size == 0 ? BufferKind::kReallocFreed : BufferKind::kReallocFailed;
    survivor = size == 0 ? nullptr : old_block;
  } else if (block == old_block) {
    kind = BufferKind::kReallocInPlace;
  }
  record_alloc(scope, static_cast<std::uint64_t>(kind), Op::kRealloc, survivor, size, caller, t1,
               ticks);
  return block;
}

}  // namespace hitch::record
