// A fixed-size pool of an engine inside an arena, reported as a heap whose parent is the arena's.
#pragma once
#include <hitchtrace/hitchtrace.h>

#include <cstddef>
#include <new>
#include <utility>

#include "arena.h"

namespace custom_heap {

// Slots for up to `capacity` objects of T, taken from `arena` once. The free list lives in the free
// slots.
template <class T>
class Pool {
 public:
  Pool(const char* name, std::size_t capacity, Arena& arena)
      : heap_(hitch_heap_create(name, arena.heap())) {
    auto* slots = static_cast<Slot*>(arena.allocate(capacity * sizeof(Slot), alignof(Slot)));
    for (std::size_t i = 0; slots != nullptr && i < capacity; ++i) {
      slots[i].next = free_;
      free_ = &slots[i];
    }
  }

  // Null when every slot is taken.
  template <class... Args>
  T* create(Args&&... args) {
    if (free_ == nullptr) return nullptr;
    Slot* slot = std::exchange(free_, free_->next);
    T* object = new (slot->bytes) T(std::forward<Args>(args)...);
    hitch_heap_alloc(heap_, object, sizeof(T));
    return object;
  }

  void destroy(T* object) {
    hitch_heap_free(heap_, object);
    object->~T();
    auto* slot = reinterpret_cast<Slot*>(object);
    slot->next = std::exchange(free_, slot);
  }

 private:
  union Slot {
    Slot* next;
    alignas(T) std::byte bytes[sizeof(T)];
  };

  hitch_heap heap_;
  Slot* free_ = nullptr;
};

}  // namespace custom_heap
