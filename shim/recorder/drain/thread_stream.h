// The recorder's read position in one game thread's chain of chunks. Bytes are copied out once,
// piecewise, before anything in them is looked at: the game may change them at any time.
//
//   slot.published ---> chunk 7, 1200 bytes
//   chain:  [small chunk 3] --next--> [chunk 2] --next--> [chunk 7]
//               closed                  closed              ^ written so far
//   staging: [ consumed | words() ... ]   refilled from the chain, its rest moved to the front
#pragma once
#include <cstdint>
#include <memory>

#include "recorder/drain/shared_pool.h"

namespace hitch::drain {

class ThreadStream {
 public:
  ThreadStream(SharedPool& pool, std::uint32_t slot, std::uint32_t thread);

  std::uint32_t slot() const { return slot_; }
  std::uint32_t thread() const { return thread_; }

  // Notes how far the thread has published. Events beyond are left for the next time.
  void observe_head();
  bool exhausted() const { return position_ == end_ && at_head(); }
  bool moved() const { return moved_; }  // by the last observe_head

  // Staged words not consumed yet. Empty only when exhausted() or after stage() returned false.
  const std::uint64_t* words() const { return staging_.get() + position_; }
  unsigned available() const { return end_ - position_; }
  void consume(unsigned words) { position_ += words; }

  // Copies more of the chain behind what is staged. Returns false when there is nothing to copy
  // or no room. Chunks that were read to their end go back to the game.
  bool stage();

  // The words staged now make no sense: drops them and the rest of their chunk.
  void skip_chunk();
  std::uint64_t skipped_chunks() const { return skipped_; }

  // After the thread's death: returns the big chunk it was writing to.
  void release();

 private:
  static constexpr unsigned kStagingWords = 2048;

  bool at_head() const { return chunk_ == head_chunk_ && offset_ >= head_bytes_; }
  // Moves to the next chunk when the present one is closed and read. False: there is none.
  bool advance_chunk();

  SharedPool& pool_;
  std::uint32_t slot_;
  std::uint32_t thread_;
  std::unique_ptr<std::uint64_t[]> staging_;
  unsigned position_ = 0;
  unsigned end_ = 0;
  format::ChunkId chunk_;
  std::uint32_t offset_ = format::kChunkDataOffset;
  format::ChunkId head_chunk_;
  std::uint32_t head_bytes_ = format::kChunkDataOffset;
  std::uint32_t hops_ = 0;  // since the head last moved: a chain is never longer than the pool
  bool moved_ = false;
  bool skipping_ = false;  // the rest of chunk_ is ignored
  std::uint64_t skipped_ = 0;
};

}  // namespace hitch::drain
