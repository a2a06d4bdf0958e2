#include "support/fake_game.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace hitch::support {

using format::BufferKind;

FakePool view_of(void* base) {
  FakePool pool;
  pool.base = static_cast<std::uint8_t*>(base);
  const format::SharedHeader& header = pool.header();
  pool.geometry = {header.total_bytes,   header.slots_offset, header.small_offset,
                   header.chunks_offset, header.slot_count,   header.chunk_count};
  return pool;
}

FakePool connect_fake_game(const std::string& socket_name, const std::string& exe,
                           format::WelcomeStatus& status) {
  status = format::WelcomeStatus::kFailed;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_name.data(),
              std::min(socket_name.size(), sizeof(address.sun_path) - 1));
  if (socket_name[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
  FakePool pool;
  format::Hello hello{};
  hello.magic = format::kHelloMagic;
  hello.version = format::kHandshakeVersion;
  hello.pid = static_cast<std::uint32_t>(getpid());
  std::memcpy(hello.exe, exe.data(), std::min(exe.size(), sizeof(hello.exe) - 1));
  format::Welcome welcome{};
  iovec part{&welcome, sizeof(welcome)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
      send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello) &&
      recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == sizeof(welcome)) {
    status = static_cast<format::WelcomeStatus>(welcome.status);
    const cmsghdr* rights = CMSG_FIRSTHDR(&message);
    if (status == format::WelcomeStatus::kRecord && rights != nullptr) {
      int memory = -1;
      std::memcpy(&memory, CMSG_DATA(rights), sizeof(memory));
      void* base =
          mmap(nullptr, welcome.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
      close(memory);
      if (base != MAP_FAILED) pool = view_of(base);
    }
  }
  if (fd >= 0) close(fd);
  return pool;
}

FakeThread::FakeThread(FakePool pool, std::uint32_t tid) : pool_(pool) {
  const std::uint32_t entry = format::pop_free(
      pool_.header().free_slots, pool_.geometry.slot_count,
      [this](std::uint32_t e) -> std::uint32_t& { return pool_.slot(e - 1).next_free; });
  if (entry == 0) return;
  index_ = entry - 1;
  slot_ = &pool_.slot(index_);
  slot_->tid = tid;
  open_chunk(entry);
  slot_->state.store(static_cast<std::uint32_t>(format::SlotState::kClaimed),
                     std::memory_order_release);
}

void FakeThread::open_chunk(format::ChunkId id) {
  chunk_ = id;
  offset_ = format::kChunkDataOffset;
  slot_->published.store(static_cast<std::uint64_t>(id) << 32 | offset_, std::memory_order_release);
}

bool FakeThread::room(unsigned words) {
  if (offset_ + words * 8 <= pool_.geometry.chunk_bytes(chunk_)) return true;
  const std::uint32_t slots = pool_.geometry.slot_count;
  const std::uint32_t entry =
      format::pop_free(pool_.header().free_chunks, pool_.geometry.chunk_count,
                       [this, slots](std::uint32_t e) -> std::uint32_t& {
                         return pool_.chunk_header(slots + e).next_free;
                       });
  if (entry == 0) return false;
  format::ChunkHeader& closing = pool_.chunk_header(chunk_);
  __atomic_store_n(&closing.closed_bytes, offset_, __ATOMIC_RELAXED);
  __atomic_store_n(&closing.next, slots + entry, __ATOMIC_RELAXED);
  open_chunk(slots + entry);
  if (open_gap_ != 0) {
    const std::uint64_t end[] = {format::make_head(BufferKind::kGapEnd, slot_->gap_last_key),
                                 open_gap_};
    put(end, 2);
    open_gap_ = 0;
  }
  return true;
}

void FakeThread::put(const std::uint64_t* words, unsigned count) {
  std::memcpy(pool_.base + pool_.geometry.chunk_offset(chunk_) + offset_, words,
              std::size_t{count} * 8);
  offset_ += count * 8;
  slot_->published.store(static_cast<std::uint64_t>(chunk_) << 32 | offset_,
                         std::memory_order_release);
}

bool FakeThread::raw(const std::vector<std::uint64_t>& words) {
  const auto count = static_cast<unsigned>(words.size());
  if (!room(count)) return false;
  put(words.data(), count);
  return true;
}

void FakeThread::add(std::uint64_t& counter, std::uint64_t value) {
  __atomic_store_n(&counter, counter + value, __ATOMIC_RELAXED);
}

void FakeThread::count(format::CallCounters& counters, std::uint64_t ticks) {
  const auto width = static_cast<unsigned>(std::bit_width(ticks));
  add(counters.buckets[std::min(width, format::kLatencyBuckets - 1)], 1);
  add(counters.ticks, ticks);
}

void FakeThread::gap(std::uint64_t key, std::uint64_t bytes, std::uint64_t ticks) {
  if (open_gap_ == 0) __atomic_store_n(&slot_->gap_first_key, key, __ATOMIC_RELAXED);
  ++open_gap_;
  __atomic_store_n(&slot_->gap_last_key, key, __ATOMIC_RELAXED);
  add(slot_->gap_bytes, bytes);
  add(slot_->gap_ticks, ticks);
  add(slot_->gap_events, 1);
}

void FakeThread::addresses(std::uint64_t* words, std::uint64_t block, std::uint64_t caller) {
  const std::uint64_t ticks = std::min<std::uint64_t>(slot_->pending_free_ticks, 0xffffffffu);
  __atomic_store_n(&slot_->pending_free_ticks, std::uint64_t{0}, __ATOMIC_RELAXED);
  words[1] = (block & format::kAddressMask) | ticks << 48;
  words[2] = (caller & format::kAddressMask) | (ticks >> 16) << 48;
}

bool FakeThread::alloc(std::uint64_t key, std::uint64_t block, std::uint64_t size,
                       std::uint64_t caller, std::uint64_t ticks, format::Op op) {
  count(slot_->alloc, ticks);
  if (block != 0) add(slot_->alloc_bytes, size);
  if (!room(5)) {
    gap(key, size, ticks);
    return false;
  }
  std::uint64_t words[5];
  addresses(words, block, caller);
  if (((size | ticks) >> 32) == 0) {
    words[0] = format::make_head(BufferKind::kAlloc, op, key);
    words[3] = size | ticks << 32;
    put(words, 4);
  } else {
    words[0] = format::make_head(BufferKind::kAllocWide, op, key);
    words[3] = ticks;
    words[4] = size;
    put(words, 5);
  }
  return true;
}

bool FakeThread::free(std::uint64_t key, std::uint64_t block, std::uint64_t caller,
                      std::uint64_t ticks, format::Op op) {
  const bool written = room(5);
  if (written) {
    std::uint64_t words[3];
    words[0] = format::make_head(BufferKind::kFree, op, key);
    addresses(words, block, caller);
    put(words, 3);
  }
  count(slot_->free, ticks);
  if (written) {
    __atomic_store_n(&slot_->pending_free_ticks, ticks, __ATOMIC_RELAXED);
  } else {
    gap(key, 0, ticks);
  }
  return written;
}

void FakeThread::realloc_begin(std::uint64_t key, std::uint64_t old_block, std::uint64_t caller) {
  if (!room(5)) return;
  std::uint64_t words[3];
  words[0] = format::make_head(BufferKind::kReallocBegin, key);
  addresses(words, old_block, caller);
  put(words, 3);
}

bool FakeThread::realloc_end(BufferKind outcome, std::uint64_t key, std::uint64_t block,
                             std::uint64_t size, std::uint64_t caller, std::uint64_t ticks) {
  count(slot_->realloc, ticks);
  const bool got_block =
      outcome == BufferKind::kReallocMoved || outcome == BufferKind::kReallocInPlace;
  if (got_block) add(slot_->realloc_bytes, size);
  if (!room(5)) {
    gap(key, size, ticks);
    return false;
  }
  std::uint64_t words[4];
  words[0] = format::make_head(outcome, key);
  addresses(words, block, caller);
  words[3] = size | ticks << 32;
  put(words, 4);
  return true;
}

void FakeThread::frame(const format::FrameRecord& record) {
  std::vector<std::uint64_t> words(sizeof(record) / 8);
  std::memcpy(words.data(), &record, sizeof(record));
  raw(words);
}

void FakeThread::frame(std::uint64_t entry, std::uint64_t exit, format::Api api) {
  format::FrameRecord record{};
  record.head = format::make_head(BufferKind::kFrame, exit);
  record.present_entry = entry;
  record.api = static_cast<std::uint8_t>(api);
  record.epoch = pool_.header().frame_epoch.fetch_add(1);
  frame(record);
}

void FakeThread::text(BufferKind kind, std::uint64_t key, std::uint32_t id, std::uint32_t aux,
                      const std::string& text) {
  format::TextRecord record{};
  record.head = format::make_head(kind, key);
  record.id = id;
  record.aux = aux;
  record.bytes = static_cast<std::uint32_t>(text.size());
  std::vector<std::uint64_t> words(sizeof(record) / 8 + format::words_for_bytes(text.size()));
  std::memcpy(words.data(), &record, sizeof(record));
  std::memcpy(words.data() + sizeof(record) / 8, text.data(), text.size());
  raw(words);
}

void FakeThread::outlier(std::uint64_t key, std::uint64_t block, std::uint64_t caller,
                         format::Op op, std::uint64_t size, std::uint64_t ticks) {
  format::OutlierRecord record{};
  record.head = format::make_head(BufferKind::kOutlier, key);
  record.block = block;
  record.caller_op = caller | static_cast<std::uint64_t>(op) << 48;
  record.size = size;
  record.duration = ticks;
  std::vector<std::uint64_t> words(sizeof(record) / 8);
  std::memcpy(words.data(), &record, sizeof(record));
  raw(words);
}

void FakeThread::stack(std::uint64_t key, unsigned kept, const std::vector<std::uint64_t>& fresh) {
  std::vector<std::uint64_t> words = {format::make_head(BufferKind::kStack, key)};
  words.insert(words.end(), fresh.begin(), fresh.end());
  if (fresh.empty()) words.push_back(0);
  words[1] |= std::uint64_t{kept} << 48 | std::uint64_t{fresh.size()} << 56;
  raw(words);
}

void FakeThread::flush(std::uint64_t key, const format::FlushRecord& sums) {
  format::FlushRecord record = sums;
  record.head = format::make_head(BufferKind::kFlush, key);
  std::vector<std::uint64_t> words(sizeof(record) / 8);
  std::memcpy(words.data(), &record, sizeof(record));
  raw(words);
}

void FakeThread::count_only(std::uint64_t allocs, std::uint64_t frees, std::uint64_t bytes) {
  add(slot_->alloc.buckets[0], allocs);
  add(slot_->free.buckets[0], frees);
  add(slot_->alloc_bytes, bytes);
}

}  // namespace hitch::support
