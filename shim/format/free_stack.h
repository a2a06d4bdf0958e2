// Operations on a FreeStack (shared_memory.h), the same for game and recorder. No C++ runtime.
//
// Entries are numbered from 1: slot i is entry i + 1, big chunk i (ChunkId slot_count + 1 + i) is
// entry i + 1. `link(entry)` returns the std::uint32_t next_free of that entry.
#pragma once
#include "format/shared_memory.h"

namespace hitch::format {

// Takes the newest entry. 0: empty, or the other side wrote nonsense (an entry above `entries`).
template <class Link>
inline std::uint32_t pop_free(FreeStack& stack, std::uint32_t entries, Link&& link) {
  std::uint64_t head = stack.head.load(std::memory_order_acquire);
  for (;;) {
    const auto entry = static_cast<std::uint32_t>(head);
    if (entry == 0 || entry > entries) return 0;
    // May read the link of an entry that another thread has just taken: the tag then differs.
    const std::uint32_t next = __atomic_load_n(&link(entry), __ATOMIC_RELAXED);
    const std::uint64_t tag = (head >> 32) + 1;
    if (stack.head.compare_exchange_weak(head, tag << 32 | next, std::memory_order_acquire,
                                         std::memory_order_acquire)) {
      stack.count.fetch_sub(1, std::memory_order_relaxed);
      return entry;
    }
  }
}

// Gives an entry back. Everything written to it before is visible to whoever pops it.
template <class Link>
inline void push_free(FreeStack& stack, std::uint32_t entry, Link&& link) {
  std::uint64_t head = stack.head.load(std::memory_order_relaxed);
  // Counted first: a pop that follows at once must not take the count below zero.
  stack.count.fetch_add(1, std::memory_order_relaxed);
  for (;;) {
    __atomic_store_n(&link(entry), static_cast<std::uint32_t>(head), __ATOMIC_RELAXED);
    const std::uint64_t tag = (head >> 32) + 1;
    if (stack.head.compare_exchange_weak(head, tag << 32 | entry, std::memory_order_release,
                                         std::memory_order_relaxed)) {
      return;
    }
  }
}

// Where things lie in the pool. Both sides copy this out of SharedHeader once and check it against
// what they mapped; afterwards the header's own fields are not read again.
struct PoolGeometry {
  std::uint64_t total_bytes;
  std::uint64_t slots_offset;
  std::uint64_t small_offset;
  std::uint64_t chunks_offset;
  std::uint32_t slot_count;
  std::uint32_t chunk_count;

  constexpr bool valid_chunk(ChunkId id) const { return id - 1 < slot_count + chunk_count; }
  constexpr bool is_small(ChunkId id) const { return id <= slot_count; }
  constexpr std::uint32_t chunk_bytes(ChunkId id) const {
    return is_small(id) ? kSmallChunkBytes : kChunkBytes;
  }
  constexpr std::uint64_t chunk_offset(ChunkId id) const {
    return is_small(id)
               ? small_offset + static_cast<std::uint64_t>(id - 1) * kSmallChunkBytes
               : chunks_offset + static_cast<std::uint64_t>(id - slot_count - 1) * kChunkBytes;
  }
  constexpr std::uint64_t slot_offset(std::uint32_t slot) const {
    return slots_offset + static_cast<std::uint64_t>(slot) * sizeof(ThreadSlot);
  }
};

// An unclaimed slot: nothing counted, its small chunk empty. `published` counts from the start of
// the chunk, so an empty chunk has kChunkDataOffset bytes.
constexpr std::uint64_t empty_head(std::uint32_t slot) {
  return static_cast<std::uint64_t>(slot + 1) << 32 | kChunkDataOffset;
}

}  // namespace hitch::format
