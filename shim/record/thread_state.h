// What a hook needs to know about its thread: one private block, reached through the library's only
// TLS variable. The block lies in memory that the kernel wipes in a forked child (MADV_WIPEONFORK),
// so that "all zero" means "not recorded" there without any fork handler.
#pragma once
#include <cstdint>

#include "format/shared_memory.h"
#include "unwind/walker.h"

namespace hitch::record {

// ThreadState::guard when no hook of the thread is running. 0 means wiped: a forked child.
constexpr std::uintptr_t kIdle = ~std::uintptr_t{0};

enum ModeBits : std::uint32_t {
  kTimeAlloc = 1,   // clock around allocations and reallocs
  kTimeFree = 2,    // clock after releases too
  kRecord = 4,      // events go to the buffer (levels time and trace)
  kStacks = 8,      // allocations carry callstacks
  kSlowClock = 16,  // no invariant TSC: CLOCK_MONOTONIC_RAW
};

struct alignas(64) ThreadState {
  // kIdle, or. A later hook entry above it on the same
  // stack proves that the scope was left by longjmp.
  std::uintptr_t guard;
  std::uint64_t* write;        // next free word of the chunk
  std::uint64_t* limit;        // last place where a record of five words still fits
  std::uint64_t publish_bias;  // published = publish_bias + address of the next free word
  format::ThreadSlot* slot;    // this thread's counters in shared memory
  std::uint64_t tsc_base;
  std::uint64_t outlier_ticks;
  std::uint32_t mode;  // ModeBits
  std::uint32_t own;   // nonzero while the shim itself may allocate: such calls are not the game's

  // Noted by operator new and delete before they jump to the next definition, so that the malloc or
  // free they end in knows its true call site. Offsets are pinned: tail_jump.S writes these.
  std::uintptr_t note_caller;
  std::uintptr_t note_sp;
  std::uint64_t note_op;
  std::uintptr_t guard_return;  // what `guard` pointed to when the hook began; 0: not noted yet
  format::SharedHeader* header;
  std::uint64_t* end;      // past the chunk's last word
  std::uint32_t chunk;     // format::ChunkId being written
  std::uint32_t gap_open;  // events were lost since the last record
  std::uint32_t epoch;     // frame epoch the unflushed counters belong to (level count)
  std::uint32_t reserved;
  std::uintptr_t present_sp;  // stack pointer of the outermost present call, or 0
  std::uintptr_t sleep_sp;    // and of the outermost sleep call

  std::uint64_t flushed_allocs;  // level count: cumulative values at the last flush
  std::uint64_t flushed_frees;
  std::uint64_t flushed_reallocs;
  std::uint64_t flushed_bytes;
  std::uint64_t own_calls;  // allocator calls made while `own`; bind_operators looks at it
  std::uint32_t tag_depth;
  std::uint32_t tags_refused;  // pushes beyond the depth limit that still wait for their pop
  unwind::StackMemo* memo;     // the thread's callstack at its last record
};

static_assert(__builtin_offsetof(ThreadState, note_caller) == 64);
static_assert(__builtin_offsetof(ThreadState, note_sp) == 72);
static_assert(__builtin_offsetof(ThreadState, note_op) == 80);
static_assert(sizeof(ThreadState) == 256);

// The one TLS variable (8 bytes, initial-exec). Null: the thread is not attached yet, or never will
// be. constinit: it must be readable without a guard in the first instruction of the process.
extern "C" [[gnu::visibility("hidden")]] constinit thread_local ThreadState* hitch_thread_state
    [[gnu::tls_model("initial-exec")]];

}  // namespace hitch::record
