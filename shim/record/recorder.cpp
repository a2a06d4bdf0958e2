#include "record/recorder.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/syscall.h"
#include "libc/real_libc.h"
#include "record/same_stack.h"

namespace hitch::record {

extern "C" {
constinit thread_local ThreadState* hitch_thread_state [[gnu::tls_model("initial-exec")]] = nullptr;
constinit std::uintptr_t hitch_plumbing_start = 1;
constinit std::uintptr_t hitch_plumbing_bytes = 0;
}
constinit Process* g_process = nullptr;
constinit std::uint32_t g_start = 0;
constinit bool g_follow_children = false;

namespace {

using format::ChunkHeader;
using format::ChunkId;
using format::SharedHeader;
using format::ThreadSlot;

ChunkHeader* chunk_header(const Process& process, ChunkId id) {
  return reinterpret_cast<ChunkHeader*>(process.base + process.geometry.chunk_offset(id));
}

ThreadSlot& slot_at(const Process& process, std::uint32_t index) {
  return *reinterpret_cast<ThreadSlot*>(process.base + process.geometry.slot_offset(index));
}

// traced_free asks for room before it takes the guard, and a signal handler's hooks may use up that
// room in between: then its record goes here. For the hook and three handlers, each inside the one
// before.
constexpr unsigned kReservedWords = 4 * format::kFreeWords;

// Points the thread at an empty chunk. Nothing is published yet.
void open_chunk(ThreadState& state, const Process& process, ChunkId id) {
  ChunkHeader* header = chunk_header(process, id);
  auto* chunk = reinterpret_cast<char*>(header);
  header->next = 0;
  header->closed_bytes = 0;
  state.chunk = id;
  state.publish_bias = (std::uint64_t{id} << 32) - reinterpret_cast<std::uintptr_t>(chunk);
  state.end =
      reinterpret_cast<std::uint64_t*>(chunk + process.geometry.chunk_bytes(id)) - kReservedWords;
  state.limit = state.end - 5;
  publish(state, reinterpret_cast<std::uint64_t*>(chunk + format::kChunkDataOffset));
}

// Makes room for `words` in the current chunk or a new one; false when no chunk is free.
bool next_chunk(const HookScope& scope, unsigned words) {
  ThreadState& state = scope.state();
  if (state.write + words <= state.end) return true;
  Process& process = *g_process;
  if (process.header->recording.load(std::memory_order_relaxed) == 0) return false;
  SharedHeader& header = *process.header;
  // Spares the contended head while the pool is empty.
  if (header.free_chunks.count.load(std::memory_order_relaxed) == 0) return false;
  const std::uint32_t slots = process.geometry.slot_count;
  const std::uint32_t entry = format::pop_free(header.free_chunks, process.geometry.chunk_count,
                                               [&](std::uint32_t e) -> std::uint32_t& {
                                                 return chunk_header(process, slots + e)->next_free;
                                               });
  if (entry == 0) return false;
  const ChunkId id = slots + entry;
  ChunkHeader* closing = chunk_header(process, state.chunk);
  closing->closed_bytes = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(state.write) -
                                                     reinterpret_cast<std::uintptr_t>(closing));
  closing->next = id;
  open_chunk(state, process, id);
  if (state.gap_open != 0) {
    std::uint64_t* next = state.write;
    next[0] = format::make_head(BufferKind::kGapEnd, state.slot->gap_last_key);
    next[1] = state.gap_open;
    publish(state, next + 2);
    state.gap_open = 0;
  }
  return true;
}

std::uint64_t calls(const format::CallCounters& counters) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bucket : counters.buckets) sum += bucket;
  return sum;
}

ThreadState* attach_thread(Process& process) {
  SharedHeader& header = *process.header;
  if (header.recording.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::uint32_t entry = format::pop_free(
      header.free_slots, process.geometry.slot_count,
      [&](std::uint32_t e) -> std::uint32_t& { return slot_at(process, e - 1).next_free; });
  if (entry == 0) return nullptr;
  ThreadSlot& slot = slot_at(process, entry - 1);
  ThreadState& state = process.states[entry - 1];
  std::memset(&state, 0, sizeof state);
  state.memo = &process.memos[entry - 1];
  state.memo->forget();
  state.memo->recorder_count = 0;
  state.slot = &slot;
  state.header = &header;
  state.tsc_base = header.tsc_base;
  state.outlier_ticks = header.outlier_ticks != 0 ? header.outlier_ticks : 1;
  state.epoch = header.frame_epoch.load(std::memory_order_relaxed);
  const auto level = static_cast<format::Level>(header.level);
  const auto time_mode = static_cast<format::TimeMode>(header.time_mode);
  if (level != format::Level::kCount) {
    state.mode = kRecord;
    if (time_mode != format::TimeMode::kNone) state.mode |= kTimeAlloc;
    if (time_mode == format::TimeMode::kAll) state.mode |= kTimeFree;
    if (process.stack_depth != 0) state.mode |= kStacks;
  }
  if (header.clock_kind == static_cast<std::uint32_t>(format::ClockKind::kMonotonicRaw)) {
    state.mode |= kSlowClock;
  }
  slot.tid = static_cast<std::uint32_t>(base::system_call(SYS_gettid));
  state.memo->bounds.reset(unwind::top_of_own_stack(slot.tid == process.pid));
  open_chunk(state, process, entry);  // slot i's small chunk is chunk i + 1
  std::uint64_t* words = state.write;
  words[0] = format::make_head(BufferKind::kThreadStart, now(state) - state.tsc_base);
  words[1] = slot.tid;
  publish(state, words + 2);
  // The recorder may look at the slot from here on.
  slot.state.store(static_cast<std::uint32_t>(format::SlotState::kClaimed),
                   std::memory_order_release);
  state.guard = kIdle;
  base::signal_fence();
  hitch_thread_state = &state;
  return &state;
}

// First allocation of the process, of a thread, or of a forked child.
ThreadState* attach() {
  // Whatever is decided below, the hook is about to call the real function.
  libc::resolve_real_libc();
  const auto start = static_cast<Start>(__atomic_load_n(&g_start, __ATOMIC_ACQUIRE));
  if (HITCH_LIKELY(start == Start::kOff)) return nullptr;
  if (start == Start::kRecording) {
    if (g_process->header != nullptr) return attach_thread(*g_process);
    // Wiped: this is a forked child, whose first hook got here.
    if (!g_follow_children) {
      __atomic_store_n(&g_start, static_cast<std::uint32_t>(Start::kOff), __ATOMIC_RELEASE);
      return nullptr;
    }
  }
  std::uint32_t expected = static_cast<std::uint32_t>(start);
  if (start == Start::kRunning ||
      !__atomic_compare_exchange_n(&g_start, &expected, static_cast<std::uint32_t>(Start::kRunning),
                                   false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return nullptr;
  }
  const bool recording = start_process(start == Start::kRecording);
  __atomic_store_n(&g_start,
                   static_cast<std::uint32_t>(recording ? Start::kRecording : Start::kOff),
                   __ATOMIC_RELEASE);
  return recording ? attach_thread(*g_process) : nullptr;
}

// Has the hook that set the guard returned without ending its scope (longjmp)? `slot` belongs to a
// hook that is entered now, on the same thread. Two live calls never share a slot, a live one keeps
// its return address, and on one stack the newer call is the lower one.
bool was_left(const ThreadState& state, std::uintptr_t slot) {
  const std::uintptr_t guard = state.guard;
  if (slot == guard) return true;
  std::uintptr_t now_there = 0;
  if (!read_own_word(guard, now_there)) return false;
  if (state.guard_return != 0 && now_there != state.guard_return) return true;
  return slot > guard && on_same_stack(slot, guard);
}

void add_shared(Call call, std::atomic<std::uint64_t>& allocs, std::atomic<std::uint64_t>& frees,
                std::atomic<std::uint64_t>& reallocs) {
  std::atomic<std::uint64_t>& counter = call == Call::kAlloc  ? allocs
                                        : call == Call::kFree ? frees
                                                              : reallocs;
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

ThreadState* open_slow(std::uintptr_t slot) {
  ThreadState* state = hitch_thread_state;
  if (state == nullptr) return attach();
  const std::uintptr_t guard = state->guard;
  if (guard == kIdle) return state;
  if (guard == 0) {
    hitch_thread_state = nullptr;
    return attach();
  }
  if (!was_left(*state, slot)) return nullptr;
  base::add_once(state->slot->abandoned_calls, state->own == 0 ? 1 : 0);
  state->memo->forget();  // it may have been left half done
  state->own = 0;
  state->guard = kIdle;
  return state;
}

void count_untracked(Call call, std::size_t bytes) {
  ThreadState* state = hitch_thread_state;
  if (state == nullptr) {
    if (g_process == nullptr || g_process->header == nullptr) return;
    SharedHeader& header = *g_process->header;
    add_shared(call, header.homeless_allocs, header.homeless_frees, header.homeless_reallocs);
    header.homeless_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  if (state->guard == 0) return;
  if (state->own != 0) {
    ++state->own_calls;
    SharedHeader& header = *state->header;
    add_shared(call, header.own_allocs, header.own_frees, header.own_reallocs);
    return;
  }
  ThreadSlot& slot = *state->slot;
  base::add_once(slot.nested_calls, 1);
  switch (call) {
    case Call::kAlloc:
      base::add_once(slot.alloc.buckets[0], 1);
      base::add_once(slot.alloc_bytes, bytes);
      break;
    case Call::kFree:
      base::add_once(slot.free.buckets[0], 1);
      break;
    case Call::kRealloc:
      base::add_once(slot.realloc.buckets[0], 1);
      base::add_once(slot.realloc_bytes, bytes);
      break;
  }
}

void note_gap(const HookScope& scope, std::uint64_t key, std::uint64_t bytes, std::uint64_t ticks) {
  ThreadState& state = scope.state();
  ThreadSlot& slot = *state.slot;
  state.memo->recorded = 0;
  if (state.gap_open == 0) slot.gap_first_key = key;
  if (state.gap_open != 0xffffffffu) ++state.gap_open;
  slot.gap_last_key = key;
  base::add_once(slot.gap_bytes, bytes);
  base::add_once(slot.gap_ticks, ticks);
  base::add_once(slot.gap_events, 1);
}

void record_alloc_slow(const HookScope& scope, std::uint64_t head, const void* block,
                       std::size_t size, std::uintptr_t caller, std::uint64_t ticks) {
  ThreadState& state = scope.state();
  const std::uint8_t kind = format::kind_byte(head);
  const bool plain = (kind & 0xf0) == static_cast<std::uint8_t>(BufferKind::kAlloc);
  if (!has_room(state) && !next_chunk(scope, 5)) {
    note_gap(scope, format::key_of(head), size, ticks);
  } else if (((size | ticks) >> 32) == 0) {
    write_alloc(state, head, block, size, caller, ticks);
  } else if (plain) {
    std::uint64_t* words = state.write;
    words[0] = head ^ static_cast<std::uint64_t>(BufferKind::kAlloc) ^
               static_cast<std::uint64_t>(BufferKind::kAllocWide);
    put_addresses(words, reinterpret_cast<std::uint64_t>(block), caller, take_previous_free(state));
    words[3] = ticks;
    words[4] = size;
    publish(state, words + 5);
  } else {
    // Reallocs have no wide form: both values saturate.
    constexpr std::uint64_t kMost = 0xffffffffu;
    write_alloc(state, head, block, size < kMost ? size : kMost, caller,
                ticks < kMost ? ticks : kMost);
  }
  if (ticks >= state.outlier_ticks) {
    record_outlier(scope, plain ? static_cast<Op>(kind & 0x0f) : Op::kRealloc,
                   reinterpret_cast<std::uintptr_t>(block), size, caller, ticks);
  }
}

bool record_release_slow(const HookScope& scope, std::uint64_t head, const void* block,
                         std::uintptr_t caller) {
  if (!next_chunk(scope, 5)) return false;
  write_release(scope.state(), head, block, caller);
  return true;
}

bool append(const HookScope& scope, const std::uint64_t* words, unsigned count) {
  ThreadState& state = scope.state();
  if (state.write + count > state.end && !next_chunk(scope, count)) return false;
  std::memcpy(state.write, words, count * sizeof *words);
  publish(state, state.write + count);
  return true;
}

void record_outlier(const HookScope& scope, Op op, std::uintptr_t block, std::size_t size,
                    std::uintptr_t caller, std::uint64_t ticks) {
  ThreadState& state = scope.state();
  format::OutlierRecord record;
  record.head = format::make_head(BufferKind::kOutlier, now(state) - state.tsc_base);
  record.block = block;
  record.caller_op = (caller & format::kAddressMask) | static_cast<std::uint64_t>(op) << 48;
  record.size = size;
  record.duration = ticks;
  if ((state.mode & kStacks) != 0) record_stack(scope, record.head);
  append(scope, reinterpret_cast<const std::uint64_t*>(&record), sizeof record / 8);
}

void flush_epoch(const HookScope& scope) {
  ThreadState& state = scope.state();
  const ThreadSlot& slot = *state.slot;
  const std::uint64_t allocs = calls(slot.alloc);
  const std::uint64_t frees = calls(slot.free);
  const std::uint64_t reallocs = calls(slot.realloc);
  const std::uint64_t bytes = slot.alloc_bytes + slot.realloc_bytes;
  format::FlushRecord record{};
  record.head = format::make_head(BufferKind::kFlush, now(state) - state.tsc_base);
  record.epoch = state.epoch;
  record.allocs = allocs - state.flushed_allocs;
  record.frees = frees - state.flushed_frees;
  record.reallocs = reallocs - state.flushed_reallocs;
  record.bytes = bytes - state.flushed_bytes;
  state.epoch = state.header->frame_epoch.load(std::memory_order_relaxed);
  // When there is no room the sums stay unflushed and go with the next flush.
  if (!append(scope, reinterpret_cast<const std::uint64_t*>(&record), sizeof record / 8)) return;
  state.flushed_allocs = allocs;
  state.flushed_frees = frees;
  state.flushed_reallocs = reallocs;
  state.flushed_bytes = bytes;
}

}  // namespace hitch::record
