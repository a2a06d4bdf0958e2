// The memory between one game process and the recorder: created, sealed, populated and laid out
// here (format/shared_memory.h), mapped by the game, drained by Drainer.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "format/free_stack.h"

namespace hitch::drain {

struct PoolError {
  std::string what;
};

class SharedPool {
 public:
  // Returns null and fills `error` when the memory cannot be had. `bytes` is rounded down to whole
  // chunks, and to a file-size limit that cannot be lifted; at least four of them are made.
  static std::unique_ptr<SharedPool> create(std::uint64_t bytes, PoolError& error);
  ~SharedPool();
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  int descriptor() const { return descriptor_; }
  // After the welcome has been sent the descriptor is of no more use.
  void close_descriptor();

  const format::PoolGeometry& geometry() const { return geometry_; }
  format::SharedHeader& header() { return *reinterpret_cast<format::SharedHeader*>(base_); }
  const format::SharedHeader& header() const {
    return *reinterpret_cast<const format::SharedHeader*>(base_);
  }
  format::ThreadSlot& slot(std::uint32_t index) {
    return *reinterpret_cast<format::ThreadSlot*>(base_ + geometry_.slot_offset(index));
  }
  // `id` must be valid.
  std::uint8_t* chunk(format::ChunkId id) { return base_ + geometry_.chunk_offset(id); }
  format::ChunkHeader& chunk_header(format::ChunkId id) {
    return *reinterpret_cast<format::ChunkHeader*>(chunk(id));
  }

  // Empties a big chunk and gives it back to the game's threads. Small chunks stay with their slot.
  void return_chunk(format::ChunkId id);
  // Zeroes a dead thread's slot and gives it back.
  void return_slot(std::uint32_t index);

  std::uint32_t free_chunks() const {
    return header().free_chunks.count.load(std::memory_order_relaxed);
  }
  std::uint32_t chunks_in_use() const;

 private:
  SharedPool(int descriptor, std::uint8_t* base, format::PoolGeometry geometry)
      : descriptor_(descriptor), base_(base), geometry_(geometry) {}
  void lay_out();

  int descriptor_;
  std::uint8_t* base_;
  format::PoolGeometry geometry_;
};

}  // namespace hitch::drain
