#include "recorder/drain/thread_stream.h"

#include <algorithm>
#include <cstring>

#include "format/buffer_records.h"

namespace hitch::drain {

ThreadStream::ThreadStream(SharedPool& pool, std::uint32_t slot, std::uint32_t thread)
    : pool_(pool),
      slot_(slot),
      thread_(thread),
      staging_(std::make_unique<std::uint64_t[]>(kStagingWords)),
      chunk_(slot + 1),
      head_chunk_(slot + 1) {}

void ThreadStream::observe_head() {
  const std::uint64_t head = pool_.slot(slot_).published.load(std::memory_order_acquire);
  const auto chunk = static_cast<format::ChunkId>(head >> 32);
  const auto bytes = static_cast<std::uint32_t>(head) & ~7u;
  moved_ = chunk != head_chunk_ || bytes != head_bytes_;
  if (!moved_) return;
  if (!pool_.geometry().valid_chunk(chunk) || bytes > pool_.geometry().chunk_bytes(chunk)) {
    moved_ = false;
    return;
  }
  head_chunk_ = chunk;
  head_bytes_ = bytes;
  hops_ = 0;
}

bool ThreadStream::advance_chunk() {
  if (chunk_ == head_chunk_) return false;
  format::ChunkHeader& header = pool_.chunk_header(chunk_);
  const format::ChunkId next = __atomic_load_n(&header.next, __ATOMIC_RELAXED);
  if (!pool_.geometry().valid_chunk(next) || ++hops_ > pool_.geometry().chunk_count) {
    // The chain leads nowhere: go on where the thread writes now.
    chunk_ = head_chunk_;
    offset_ = head_bytes_;
    ++skipped_;
    return false;
  }
  if (!pool_.geometry().is_small(chunk_)) pool_.return_chunk(chunk_);
  chunk_ = next;
  offset_ = format::kChunkDataOffset;
  skipping_ = false;
  return true;
}

bool ThreadStream::stage() {
  if (position_ > 0) {
    std::memmove(staging_.get(), words(), std::size_t{available()} * 8);
    end_ -= position_;
    position_ = 0;
  }
  bool copied = false;
  while (end_ < kStagingWords) {
    std::uint32_t limit = head_bytes_;
    if (chunk_ != head_chunk_) {
      limit = __atomic_load_n(&pool_.chunk_header(chunk_).closed_bytes, __ATOMIC_RELAXED) & ~7u;
      limit = std::min(limit, pool_.geometry().chunk_bytes(chunk_));
    }
    if (offset_ >= limit || skipping_) {
      offset_ = std::max(offset_, limit);
      // A record never crosses chunks: what is left of this one is looked at on its own first.
      if (end_ > 0 || !advance_chunk()) break;
      continue;
    }
    const std::uint32_t bytes = std::min(limit - offset_, (kStagingWords - end_) * 8);
    std::memcpy(staging_.get() + end_, pool_.chunk(chunk_) + offset_, bytes);
    offset_ += bytes;
    end_ += bytes / 8;
    copied = true;
  }
  return copied;
}

void ThreadStream::skip_chunk() {
  position_ = 0;
  end_ = 0;
  skipping_ = true;
  ++skipped_;
}

void ThreadStream::release() {
  if (!pool_.geometry().is_small(chunk_)) pool_.return_chunk(chunk_);
}

}  // namespace hitch::drain
