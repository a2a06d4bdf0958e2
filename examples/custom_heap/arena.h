// A bump arena of an engine, reported to hitchtrace as a heap of the game's own.
#pragma once
#include <hitchtrace/hitchtrace.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace custom_heap {

// Hands out memory from one block and takes it back all at once. Not thread-safe.
class Arena {
 public:
  // `parent` is the heap the arena's block comes from, or 0 for malloc.
  Arena(const char* name, std::size_t bytes, hitch_heap parent = 0)
      : block_(new std::byte[bytes]), bytes_(bytes), heap_(hitch_heap_create(name, parent)) {}

  // Null when full. `alignment` is a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void* place = block_.get() + used_;
    std::size_t room = bytes_ - used_;
    if (std::align(alignment, bytes, place, room) == nullptr) return nullptr;
    used_ = bytes_ - room + bytes;
    hitch_heap_alloc(heap_, place, bytes);
    return place;
  }

  // Releases everything: the report counts each block that was still live.
  void reset() {
    hitch_heap_reset(heap_);
    used_ = 0;
  }

  std::size_t used() const { return used_; }
  hitch_heap heap() const { return heap_; }

 private:
  std::unique_ptr<std::byte[]> block_;
  std::size_t bytes_;
  std::size_t used_ = 0;
  hitch_heap heap_;
};

}  // namespace custom_heap
