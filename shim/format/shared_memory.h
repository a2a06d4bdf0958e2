// The memory the recorder owns and the game writes: one sealed memfd per recorded process.
//
//   offset 0            SharedHeader   (1 page)
//   slots_offset        ThreadSlot  [slot_count]
//   small_offset        SmallChunk  [slot_count]   4 KiB each; slot i starts in small chunk i
//   chunks_offset       Chunk       [chunk_count]  64 KiB each; popped lock-free, returned by the
//   recorder
//
// Ownership: the recorder creates, sizes, seals and populates everything and sets every field
// before the game maps it. A ThreadSlot and the chunks hanging off it belong to one game thread
// until that thread is dead; the recorder only reads them, then resets and returns them. All
// counters are cumulative and only grow. The recorder treats every byte here as untrusted once the
// game has it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hitch::format {

constexpr std::uint64_t kSharedMagic = 0x314d454d48435448;  // "HTCHMEM1"
constexpr std::uint32_t kSharedVersion = 3;
constexpr std::uint32_t kChunkBytes = 64 * 1024;
constexpr std::uint32_t kSmallChunkBytes = 4 * 1024;
constexpr std::uint32_t kSlotCount = 1024;
// Chunk ids: 0 = none; 1..slot_count = small chunk of slot id-1; above = Chunk id - slot_count - 1.
using ChunkId = std::uint32_t;

enum class Level : std::uint32_t { kCount = 0, kTime = 1, kTrace = 2 };
enum class TimeMode : std::uint32_t { kNone = 0, kAlloc = 1, kAll = 2 };
enum class ClockKind : std::uint32_t { kTsc = 0, kMonotonicRaw = 1 };

// A Treiber stack of 1-based indices; the upper half is a tag against ABA.
struct alignas(64) FreeStack {
  std::atomic<std::uint64_t> head;   // tag << 32 | index + 1, or index 0 when empty
  std::atomic<std::uint32_t> count;  // free entries; a hint for load shedding and reports
};

struct SharedHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t header_bytes;  // sizeof(SharedHeader)
  std::uint64_t total_bytes;
  std::uint32_t slot_count;
  std::uint32_t chunk_count;
  std::uint64_t slots_offset;
  std::uint64_t small_offset;
  std::uint64_t chunks_offset;
  // Set by the recorder, read by the game.
  std::uint64_t tsc_base;       // ticks; every key is relative to it
  std::uint64_t tsc_hz;         // ticks per second, calibrated
  std::uint64_t outlier_ticks;  // calls at least this slow are recorded one by one
  std::uint32_t level;          // Level
  std::uint32_t time_mode;      // TimeMode
  std::uint32_t clock_kind;     // ClockKind
  std::uint32_t shed_below;     // stacks are not captured while fewer chunks than this are free
  std::atomic<std::uint32_t>
      recording;  // 0: the game stops writing (recorder gone or told to stop)
  std::uint32_t reserved0;
  // Set by the game once its price list is measured (ticks x 256), 0 until then.
  std::atomic<std::uint32_t> price_clock_x256;  // one clock read
  std::atomic<std::uint32_t> price_alloc_x256;  // what the shim adds to one allocation
  std::atomic<std::uint32_t> price_free_x256;   // and to one release
  std::atomic<std::uint32_t> price_fresh_x256;  // one stack entry that had to be walked
  std::atomic<std::uint32_t> price_kept_x256;   // one that only had to be compared
  std::atomic<std::uint32_t> price_pair_floor;  // smallest difference of two clock reads, in ticks
  // Set by the game: how it is served. Texts are zero terminated.
  char allocator[128];  // module that defines the malloc behind the shim
  char driver[128];     // GL_RENDERER / GL_VERSION when seen
  // Counters without a thread: all slots taken, hooks before and after a thread's life.
  std::atomic<std::uint64_t> homeless_allocs;
  std::atomic<std::uint64_t> homeless_frees;
  std::atomic<std::uint64_t> homeless_reallocs;
  std::atomic<std::uint64_t> homeless_bytes;
  // The shim's own calls to the game's allocator, price list included: counted nowhere else.
  std::atomic<std::uint64_t> own_allocs;
  std::atomic<std::uint64_t> own_frees;
  std::atomic<std::uint64_t> own_reallocs;
  // Option verify_stacks: callstacks compared with libunwind's.
  std::atomic<std::uint64_t> stacks_checked;
  std::atomic<std::uint64_t> stacks_different;
  std::atomic<std::uint64_t> stacks_truncated;  // equal as far as the shorter one goes

  // Set by the game: where the shim's own memory lies, so that page faults there are not the
  // game's.
  std::atomic<std::uint64_t> shared_begin;  // this very memory
  std::atomic<std::uint64_t> shared_end;
  std::atomic<std::uint64_t> private_begin;  // threads' states
  std::atomic<std::uint64_t> private_end;

  alignas(
      64) std::atomic<std::uint32_t> frame_epoch;  // the one word all threads read (level count)
  FreeStack free_slots;
  FreeStack free_chunks;
};

constexpr unsigned kLatencyBuckets =
    40;  // bucket b: ticks with bit width b (0: untimed or 0 ticks)

// Cumulative counters of one kind of call. The number of calls is the sum of the buckets.
struct CallCounters {
  std::uint64_t ticks;
  std::uint64_t buckets[kLatencyBuckets];
};

enum class SlotState : std::uint32_t { kFree = 0, kClaimed = 1 };

// One game thread. Written by that thread only, with single-instruction read-modify-writes so that
// a signal handler that interrupts a hook can count too.
struct alignas(64) ThreadSlot {
  // published: chunk id << 32 | bytes written of it. Store-release after each record.
  std::atomic<std::uint64_t> published;
  std::uint64_t alloc_bytes;         // requested
  std::uint64_t realloc_bytes;       // requested new sizes of successful reallocs
  std::uint64_t pending_free_ticks;  // duration of the last free, not yet carried by a record
  std::uint64_t null_frees;
  std::uint64_t sleep_ticks;
  std::uint64_t map_calls;
  std::uint64_t map_bytes;
  std::uint64_t nested_calls;  // calls from a signal handler inside a hook: counted, not recorded
  std::uint64_t abandoned_calls;  // scopes left by longjmp, noticed afterwards
  // Lost events: what could not be written for want of a chunk. Cumulative.
  std::uint64_t gap_events;
  std::uint64_t gap_bytes;
  std::uint64_t gap_ticks;
  std::uint64_t gap_first_key;  // of the last or current gap
  std::uint64_t gap_last_key;
  std::uint64_t shed_stacks;
  std::uint32_t tid;                 // as the game sees it
  std::atomic<std::uint32_t> state;  // SlotState
  std::uint32_t next_free;           // FreeStack link, 1-based
  std::uint32_t generation;          // raised by the recorder each time the slot is returned
  CallCounters alloc;
  CallCounters free;
  CallCounters realloc;
};

struct ChunkHeader {
  std::uint32_t next;          // ChunkId that follows, valid once this chunk is closed
  std::uint32_t closed_bytes;  // bytes written in all, valid once closed
  std::uint32_t next_free;     // FreeStack link, 1-based
  std::uint32_t reserved;
};
// Records start here; `published` and `closed_bytes` count from the start of the chunk.
constexpr std::uint32_t kChunkDataOffset = 64;

static_assert(sizeof(ChunkHeader) == 16);
static_assert(sizeof(SharedHeader) <= 4096);
static_assert(sizeof(ThreadSlot) == 1152);
static_assert(offsetof(SharedHeader, frame_epoch) % 64 == 0);

}  // namespace hitch::format
