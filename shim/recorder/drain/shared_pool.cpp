#include "recorder/drain/shared_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace hitch::drain {

namespace {

using format::ChunkHeader;
using format::kChunkBytes;
using format::kSlotCount;
using format::kSmallChunkBytes;
using format::SharedHeader;
using format::ThreadSlot;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMinChunks = 4;
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

format::PoolGeometry geometry_for(std::uint64_t bytes) {
  format::PoolGeometry g{};
  g.slot_count = kSlotCount;
  g.slots_offset = kPage;
  const std::uint64_t slots_bytes = kSlotCount * sizeof(ThreadSlot);
  g.small_offset = (g.slots_offset + slots_bytes + kPage - 1) / kPage * kPage;
  const std::uint64_t small_end = g.small_offset + std::uint64_t{kSlotCount} * kSmallChunkBytes;
  g.chunks_offset = (small_end + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
  const std::uint64_t room = bytes > g.chunks_offset ? bytes - g.chunks_offset : 0;
  const std::uint64_t limit = 0x7fffffff - kSlotCount;  // ChunkId is 32 bits
  g.chunk_count =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room / kChunkBytes, kMinChunks, limit));
  g.total_bytes = g.chunks_offset + std::uint64_t{g.chunk_count} * kChunkBytes;
  return g;
}

// A file-size limit also counts for memory that has a descriptor. Lifts it as far as this process
// may while the memory is sized; afterwards it holds again for the trace, as its owner wished.
class LiftedFileSizeLimit {
 public:
  LiftedFileSizeLimit() {
    if (getrlimit(RLIMIT_FSIZE, &before_) != 0) return;
    rlimit lifted{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &lifted) == 0) return;
    lifted = {before_.rlim_max, before_.rlim_max};
    if (setrlimit(RLIMIT_FSIZE, &lifted) == 0) bytes_ = before_.rlim_max;
  }
  ~LiftedFileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  LiftedFileSizeLimit(const LiftedFileSizeLimit&) = delete;
  LiftedFileSizeLimit& operator=(const LiftedFileSizeLimit&) = delete;
  std::uint64_t bytes() const { return bytes_; }

 private:
  rlimit before_{RLIM_INFINITY, RLIM_INFINITY};
  std::uint64_t bytes_ = ~std::uint64_t{0};
};

PoolError failed(const char* step) {
  return {std::string("cannot prepare the buffer: ") + step + ": " + std::strerror(errno)};
}

}  // namespace

std::unique_ptr<SharedPool> SharedPool::create(std::uint64_t bytes, PoolError& error) {
  const LiftedFileSizeLimit limit;
  const format::PoolGeometry geometry = geometry_for(std::min(bytes, limit.bytes()));
  const int fd = memfd_create("hitchtrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    error = failed("memfd_create");
    return nullptr;
  }
  if (ftruncate(fd, static_cast<off_t>(geometry.total_bytes)) != 0) {
    error = failed("ftruncate");
    close(fd);
    return nullptr;
  }
  // Sealed: a game that shrinks it could otherwise kill the recorder with SIGBUS.
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    error = failed("F_ADD_SEALS");
    close(fd);
    return nullptr;
  }
  void* base = mmap(nullptr, geometry.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    error = failed("mmap");
    close(fd);
    return nullptr;
  }
  // Fails cleanly when memory is short (the alternative is SIGBUS later). Kernels before 5.14 do
  // not know it; there the layout below and the first use populate.
  if (madvise(base, geometry.total_bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    error = failed("populating");
    munmap(base, geometry.total_bytes);
    close(fd);
    return nullptr;
  }
  std::unique_ptr<SharedPool> pool(new SharedPool(fd, static_cast<std::uint8_t*>(base), geometry));
  pool->lay_out();
  return pool;
}

SharedPool::~SharedPool() {
  munmap(base_, geometry_.total_bytes);
  close_descriptor();
}

void SharedPool::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void SharedPool::lay_out() {
  auto* h = new (base_) SharedHeader{};
  h->magic = format::kSharedMagic;
  h->version = format::kSharedVersion;
  h->header_bytes = sizeof(SharedHeader);
  h->total_bytes = geometry_.total_bytes;
  h->slot_count = geometry_.slot_count;
  h->chunk_count = geometry_.chunk_count;
  h->slots_offset = geometry_.slots_offset;
  h->small_offset = geometry_.small_offset;
  h->chunks_offset = geometry_.chunks_offset;
  h->shed_below = geometry_.chunk_count / 4;
  // Pushed from the last to the first, so that the first are taken first and the busy part stays
  // compact. The game is not there yet: nothing here needs to be atomic.
  for (std::uint32_t i = geometry_.slot_count; i-- > 0;) return_slot(i);
  for (std::uint32_t i = geometry_.chunk_count; i-- > 0;) {
    return_chunk(geometry_.slot_count + 1 + i);
  }
  for (std::uint32_t i = 0; i < geometry_.slot_count; ++i) slot(i).generation = 0;
}

void SharedPool::return_chunk(format::ChunkId id) {
  ChunkHeader& chunk = chunk_header(id);
  chunk.next = 0;
  chunk.closed_bytes = 0;
  const std::uint32_t first = geometry_.slot_count;
  format::push_free(header().free_chunks, id - first,
                    [this, first](std::uint32_t entry) -> std::uint32_t& {
                      return chunk_header(first + entry).next_free;
                    });
}

void SharedPool::return_slot(std::uint32_t index) {
  ThreadSlot& s = slot(index);
  const std::uint32_t generation = s.generation + 1;
  ChunkHeader& small = chunk_header(index + 1);
  small.next = 0;
  small.closed_bytes = 0;
  // Word by word and atomically: a thread that lost the race for this slot may still read its link.
  auto* words = reinterpret_cast<std::uint64_t*>(&s);
  for (std::size_t i = 0; i < sizeof(ThreadSlot) / 8; ++i) {
    __atomic_store_n(words + i, std::uint64_t{0}, __ATOMIC_RELAXED);
  }
  s.generation = generation;
  s.published.store(format::empty_head(index), std::memory_order_relaxed);
  format::push_free(header().free_slots, index + 1, [this](std::uint32_t entry) -> std::uint32_t& {
    return slot(entry - 1).next_free;
  });
}

std::uint32_t SharedPool::chunks_in_use() const {
  const std::uint32_t spare = free_chunks();
  return spare < geometry_.chunk_count ? geometry_.chunk_count - spare : 0;
}

}  // namespace hitch::drain
