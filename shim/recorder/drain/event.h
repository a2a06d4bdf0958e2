// One buffer record, copied out of the game's memory and taken apart: what Drainer hands on, in key
// order across all threads.
#pragma once
#include <cstdint>
#include <span>

#include "format/buffer_records.h"

namespace hitch::drain {

struct Event {
  std::uint64_t key;                  // ticks since tsc_base
  std::uint64_t block;                // w1's address
  std::uint64_t caller;               // w2's address
  std::uint64_t size;                 // bytes; of kMap kinds: pages
  std::uint64_t ticks;                // duration, raw
  std::uint32_t previous_free_ticks;  // rides here for the thread's last release; 0: none
  std::uint32_t thread;               // dense id
  format::BufferKind kind;            // without the Op of kAlloc, kAllocWide, kFree
  format::Op op;
  std::uint16_t word_count;  // of `words`
  std::uint32_t heap;        // kHeap*
  // The whole record, for kinds that are not taken apart; valid during on_events.
  const std::uint64_t* words;
};
static_assert(sizeof(Event) == 64);

// A thread's cumulative counters as copied out of its slot once.
struct SlotCounters {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t null_frees = 0;
  std::uint64_t alloc_bytes = 0;
  std::uint64_t realloc_bytes = 0;
  std::uint64_t alloc_ticks = 0;
  std::uint64_t free_ticks = 0;
  std::uint64_t realloc_ticks = 0;
  std::uint64_t pending_free_ticks = 0;
  std::uint64_t map_calls = 0;
  std::uint64_t map_bytes = 0;
  std::uint64_t nested_calls = 0;
  std::uint64_t abandoned_calls = 0;
  std::uint64_t shed_stacks = 0;
};

struct Loss {
  std::uint64_t events;
  std::uint64_t bytes;
  std::uint64_t ticks;
  std::uint64_t first_key;
  std::uint64_t last_key;
};

// Where drained events go. One call per batch, so that its price does not count.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // A thread's slot was seen for the first time; before any of its events. `tid` is the game's.
  virtual void on_thread_start(std::uint32_t thread, std::uint32_t tid) = 0;
  virtual void on_events(std::span<const Event> events) = 0;
  // The thread lost events since the last call; they are in none of its records.
  virtual void on_loss(std::uint32_t thread, const Loss& loss) = 0;
  // The thread is dead, or the run over, and all it published was delivered.
  virtual void on_thread_end(std::uint32_t thread, const SlotCounters& counters) = 0;
};

}  // namespace hitch::drain
