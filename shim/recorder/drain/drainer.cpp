#include "recorder/drain/drainer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hitch::drain {

namespace {

using format::BufferKind;
using format::kAddressMask;
using format::ThreadSlot;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }

std::uint64_t calls(const format::CallCounters& counters) {
  std::uint64_t sum = 0;
  for (const std::uint64_t& bucket : counters.buckets) sum += load(bucket);
  return sum;
}

SlotCounters copy_counters(const ThreadSlot& slot) {
  SlotCounters c;
  c.allocs = calls(slot.alloc);
  c.frees = calls(slot.free);
  c.reallocs = calls(slot.realloc);
  c.null_frees = load(slot.null_frees);
  c.alloc_bytes = load(slot.alloc_bytes);
  c.realloc_bytes = load(slot.realloc_bytes);
  c.alloc_ticks = load(slot.alloc.ticks);
  c.free_ticks = load(slot.free.ticks);
  c.realloc_ticks = load(slot.realloc.ticks);
  c.pending_free_ticks = load(slot.pending_free_ticks);
  c.map_calls = load(slot.map_calls);
  c.map_bytes = load(slot.map_bytes);
  c.nested_calls = load(slot.nested_calls);
  c.abandoned_calls = load(slot.abandoned_calls);
  c.shed_stacks = load(slot.shed_stacks);
  return c;
}

// The previous release's duration, split over the top halves of words 1 and 2.
std::uint32_t previous_free(const std::uint64_t* words) {
  return static_cast<std::uint32_t>(words[1] >> 48 | (words[2] >> 48) << 16);
}

}  // namespace

Drainer::Drainer(SharedPool& pool, EventSink& sink, Now now)
    : pool_(pool),
      sink_(sink),
      now_(std::move(now)),
      by_slot_(pool.geometry().slot_count),
      batch_(kBatch),
      rare_(kRareWords) {}

std::uint64_t Drainer::drain() {
  const std::uint64_t before = records_;
  const std::uint64_t limit = now_();
  note_pool_use();
  adopt_new_threads();
  for (const auto& stream : streams_) stream->read.observe_head();
  merge(limit);
  deliver();
  for (const auto& stream : streams_) report_losses(*stream);
  horizon_ = std::max(horizon_, limit);
  return records_ - before;
}

void Drainer::adopt_new_threads() {
  // A claim shows first in the stack's head, then in the slot's state: look a few times after each
  // change, and now and then in any case.
  const std::uint64_t head = pool_.header().free_slots.head.load(std::memory_order_acquire);
  if (head != last_free_slots_) {
    last_free_slots_ = head;
    scans_ = 0;
  }
  if (++scans_ > 4 && scans_ % 16 != 0) return;
  for (std::uint32_t i = 0; i < pool_.geometry().slot_count; ++i) {
    if (by_slot_[i] != nullptr) continue;
    ThreadSlot& slot = pool_.slot(i);
    if (slot.state.load(std::memory_order_acquire) !=
        static_cast<std::uint32_t>(format::SlotState::kClaimed)) {
      continue;
    }
    const std::uint32_t tid = __atomic_load_n(&slot.tid, __ATOMIC_RELAXED);
    const auto early = early_.find(tid);
    const std::uint32_t thread = early != early_.end() ? early->second : next_thread_++;
    if (early != early_.end()) early_.erase(early);
    streams_.push_back(std::make_unique<Stream>(Stream{ThreadStream(pool_, i, thread), tid}));
    by_slot_[i] = streams_.back().get();
    sink_.on_thread_start(thread, tid);
  }
}

std::uint32_t Drainer::number_early(std::uint32_t tid) {
  const auto [place, fresh] = early_.try_emplace(tid, next_thread_);
  if (fresh) ++next_thread_;
  return place->second;
}

bool Drainer::first_key(Stream& stream, std::uint64_t& key) {
  if (stream.read.available() == 0 && !stream.read.stage()) return false;
  key = format::key_of(*stream.read.words());
  return true;
}

void Drainer::merge(std::uint64_t limit) {
  due_.clear();
  for (const auto& stream : streams_) {
    stream->quiet = !stream->read.moved();
    if (stream->read.exhausted()) continue;
    std::uint64_t key = 0;
    if (first_key(*stream, key) && key <= limit) due_.push_back({key, stream.get()});
  }
  const auto later = [](const Due& a, const Due& b) { return a.key > b.key; };
  std::make_heap(due_.begin(), due_.end(), later);
  while (!due_.empty()) {
    // The thread with the smallest key runs until the next smallest of any other thread.
    std::uint64_t until = limit;
    if (due_.size() > 1) until = std::min(until, due_[1].key);
    if (due_.size() > 2) until = std::min(until, due_[2].key);
    std::uint64_t key = 0;
    if (run(*due_[0].stream, until, key) && key <= limit) {
      std::size_t hole = 0;
      const Due moved{key, due_[0].stream};
      for (;;) {
        std::size_t child = 2 * hole + 1;
        if (child >= due_.size()) break;
        if (child + 1 < due_.size() && due_[child + 1].key < due_[child].key) ++child;
        if (due_[child].key >= moved.key) break;
        due_[hole] = due_[child];
        hole = child;
      }
      due_[hole] = moved;
    } else {
      std::pop_heap(due_.begin(), due_.end(), later);
      due_.pop_back();
    }
  }
}

bool Drainer::run(Stream& stream, std::uint64_t limit, std::uint64_t& next_key) {
  ThreadStream& read = stream.read;
  for (;;) {
    const std::uint64_t* words = read.words();
    const std::uint64_t* const end = words + read.available();
    const std::uint64_t* const begin = words;
    const std::uint32_t thread = read.thread();
    while (words < end) {
      next_key = format::key_of(*words);
      if (next_key > limit) {
        read.consume(static_cast<unsigned>(words - begin));
        return true;
      }
      const unsigned length = format::record_words(words, static_cast<unsigned>(end - words));
      if (length == 0) break;
      take(words, length, thread);
      words += length;
    }
    read.consume(static_cast<unsigned>(words - begin));
    const bool cut = read.available() > 0;
    if (read.stage()) continue;
    if (!cut) return false;
    read.skip_chunk();
    // What the thread has open may be lost with the chunk.
    Event event{};
    event.key = next_key;
    event.thread = thread;
    event.kind = BufferKind::kGapEnd;
    batch_[batched_++] = event;
    if (batched_ == kBatch) deliver();
    if (!read.stage()) return false;
  }
}

inline void Drainer::take(const std::uint64_t* words, unsigned length, std::uint32_t thread) {
  Event& event = batch_[batched_];
  const std::uint64_t head = words[0];
  const std::uint8_t byte = format::kind_byte(head);
  event.key = format::key_of(head);
  event.thread = thread;
  switch (byte & 0xf0) {
    case 0x00:
      return;
    case 0x10:
    case 0x20:
    case 0x30:
      event.block = words[1] & kAddressMask;
      event.caller = words[2] & kAddressMask;
      event.previous_free_ticks = previous_free(words);
      event.kind = static_cast<BufferKind>(byte & 0xf0);
      event.op = static_cast<format::Op>(byte & 0x0f);
      if (length == format::kAllocWords) {
        event.size = words[3] & 0xffffffffu;
        event.ticks = words[3] >> 32;
      } else if (length > format::kAllocWords) {
        event.ticks = words[3];
        event.size = words[4];
      }
      break;
    default:
      take_rare(words, length, event);
  }
  ++records_;
  if (++batched_ == kBatch || rare_used_ + format::kMaxRecordWords > kRareWords) deliver();
}

void Drainer::take_rare(const std::uint64_t* words, unsigned length, Event& event) {
  event.kind = static_cast<BufferKind>(format::kind_byte(words[0]));
  event.op = format::Op::kCount;
  event.previous_free_ticks = 0;
  std::uint64_t* copy = rare_.data() + rare_used_;
  std::memcpy(copy, words, std::size_t{length} * 8);
  rare_used_ += length;
  event.words = copy;
  event.word_count = static_cast<std::uint16_t>(length);
  switch (event.kind) {
    case BufferKind::kHeapAlloc:
      event.heap = static_cast<std::uint32_t>(words[4]);
      break;
    case BufferKind::kHeapFree:
      event.heap = static_cast<std::uint32_t>(words[3]);
      break;
    case BufferKind::kReallocBegin:
    case BufferKind::kReallocMoved:
    case BufferKind::kReallocInPlace:
    case BufferKind::kReallocFailed:
    case BufferKind::kReallocFreed:
      event.op = format::Op::kRealloc;
      break;
    case BufferKind::kMap:
      event.op = format::Op::kMmap;
      break;
    case BufferKind::kUnmap:
      event.op = format::Op::kMunmap;
      break;
    case BufferKind::kRemap:
      event.op = format::Op::kMremap;
      break;
    default:
      return;
  }
  event.block = words[1] & kAddressMask;
  event.caller = words[2] & kAddressMask;
  event.previous_free_ticks = previous_free(words);
  event.size = 0;
  event.ticks = 0;
  if (length >= format::kAllocWords && event.kind != BufferKind::kHeapFree) {
    event.size = words[3] & 0xffffffffu;
    event.ticks = words[3] >> 32;
  }
}

void Drainer::deliver() {
  if (batched_ > 0) sink_.on_events({batch_.data(), batched_});
  batched_ = 0;
  rare_used_ = 0;
}

void Drainer::report_losses(Stream& stream) {
  const ThreadSlot& slot = pool_.slot(stream.read.slot());
  const std::uint64_t events = load(slot.gap_events);
  if (events == stream.seen.events) return;
  const std::uint64_t bytes = load(slot.gap_bytes);
  const std::uint64_t ticks = load(slot.gap_ticks);
  const Loss loss{events - stream.seen.events, bytes - stream.seen.bytes, ticks - stream.seen.ticks,
                  load(slot.gap_first_key), load(slot.gap_last_key)};
  stream.seen = {events, bytes, ticks, loss.first_key, loss.last_key};
  sink_.on_loss(stream.read.thread(), loss);
}

void Drainer::end_thread(Stream& stream) {
  report_losses(stream);
  sink_.on_thread_end(stream.read.thread(), copy_counters(pool_.slot(stream.read.slot())));
  malformed_ended_ += stream.read.skipped_chunks();
  stream.read.release();
  by_slot_[stream.read.slot()] = nullptr;
  pool_.return_slot(stream.read.slot());
}

// The kernel gave the thread's id to a newer thread.
bool Drainer::is_superseded(const Stream& stream) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& other) {
    return other->tid == stream.tid && other->read.thread() > stream.read.thread();
  });
}

void Drainer::reap(const IsAlive& alive) {
  for (std::size_t i = 0; i < streams_.size();) {
    Stream& stream = *streams_[i];
    // The order matters: dead first, then nothing published since the last drain.
    if (!stream.quiet || (!is_superseded(stream) && alive(stream.tid))) {
      ++i;
      continue;
    }
    stream.read.observe_head();
    if (!stream.read.exhausted()) {
      ++i;
      continue;
    }
    end_thread(stream);
    streams_[i] = std::move(streams_.back());
    streams_.pop_back();
  }
}

void Drainer::finish() {
  scans_ = 0;
  adopt_new_threads();
  for (const auto& stream : streams_) stream->read.observe_head();
  merge(kNoLimit);
  deliver();
  for (const auto& stream : streams_) end_thread(*stream);
  streams_.clear();
}

std::uint64_t Drainer::malformed() const {
  std::uint64_t sum = malformed_ended_;
  for (const auto& stream : streams_) sum += stream->read.skipped_chunks();
  return sum;
}

void Drainer::note_pool_use() {
  const std::uint32_t used = pool_.chunks_in_use();
  chunks_peak_ = std::max(chunks_peak_, used);
  chunks_peak_recent_ = std::max(chunks_peak_recent_, used);
}

std::uint32_t Drainer::take_chunks_peak() {
  const std::uint32_t peak = chunks_peak_recent_;
  chunks_peak_recent_ = 0;
  note_pool_use();
  return std::max(peak, chunks_peak_recent_);
}

}  // namespace hitch::drain
