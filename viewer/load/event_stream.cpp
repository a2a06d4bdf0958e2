#include "viewer/load/event_stream.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace hitch::load {
namespace {

// One Events record, unpacked.
struct Unpacked {
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  std::uint64_t skipped = 0;
  bool whole = true;
  std::vector<format::KeptEvent> events;
};

// What one chunk says about events.
struct UnpackedChunk {
  std::vector<Unpacked> blocks;
  std::vector<format::trace::Counters> counters;
  std::uint64_t given_up = 0;
};

// Lists of events that were looked at: memory that need not be faulted in again.
class SpareLists {
 public:
  std::vector<format::KeptEvent> take() {
    const std::lock_guard lock(mutex_);
    if (lists_.empty()) return {};
    std::vector<format::KeptEvent> list = std::move(lists_.back());
    lists_.pop_back();
    return list;
  }
  void give(std::vector<format::KeptEvent>&& list) {
    list.clear();
    const std::lock_guard lock(mutex_);
    lists_.push_back(std::move(list));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<format::KeptEvent>> lists_;
};

// `raw` is memory to work in.
UnpackedChunk unpack_events(const TraceReader& reader, const ChunkPlace& place, SpareLists& spare,
                            std::string& raw) {
  UnpackedChunk chunk;
  if (!reader.raw_chunk(place, raw)) return chunk;
  format::RecordDecoder decoder(raw);
  while (decoder.next()) {
    decoder.dispatch([&](const auto& record) {
      if (decoder.malformed()) return;
      using Record = std::decay_t<decltype(record)>;
      if constexpr (std::is_same_v<Record, format::trace::Counters>)
        chunk.counters.push_back(record);
      if constexpr (std::is_same_v<Record, format::trace::GivenUp>) chunk.given_up += record.events;
      if constexpr (std::is_same_v<Record, format::trace::Events>) {
        Unpacked block{record.number, record.count, record.skipped, true, {}};
        if (record.count > 0 && record.count <= format::kMostBlockEvents) {
          block.events = spare.take();
          block.events.reserve(record.count);
          block.whole = format::decode_events(record.block, block.events) &&
                        block.events.size() == record.count;
          if (block.events.size() > record.count) block.events.resize(record.count);
        }
        chunk.blocks.push_back(std::move(block));
      }
    });
  }
  return chunk;
}

// Unpacks chunks ahead of the one who takes them, and hands them out in order.
class Unpackers {
 public:
  Unpackers(const TraceReader& reader, std::vector<ChunkPlace> places)
      : reader_(reader), places_(std::move(places)), ready_(places_.size()) {
    const std::size_t wanted = std::max(2u, std::thread::hardware_concurrency());
    // One chunk is unpacked sooner than a thread is started.
    const std::size_t count = places_.size() > 1 ? std::min(wanted, places_.size()) : 0;
    ahead_ = count * 2;
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Unpackers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Unpackers(const Unpackers&) = delete;
  Unpackers& operator=(const Unpackers&) = delete;

  std::unique_ptr<UnpackedChunk> take(std::size_t index) {
    if (threads_.empty()) {
      std::string raw;
      return std::make_unique<UnpackedChunk>(unpack_events(reader_, places_[index], spare_, raw));
    }
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return ready_[index] != nullptr; });
    taken_ = index + 1;
    room_.notify_all();
    return std::move(ready_[index]);
  }
  void give_back(UnpackedChunk& chunk) {
    for (Unpacked& block : chunk.blocks) spare_.give(std::move(block.events));
  }

 private:
  void work() {
    std::string raw;
    for (;;) {
      std::size_t index = 0;
      {
        std::unique_lock lock(mutex_);
        room_.wait(lock,
                   [&] { return stop_ || next_ == places_.size() || next_ < taken_ + ahead_; });
        if (stop_ || next_ == places_.size()) return;
        index = next_++;
      }
      auto chunk =
          std::make_unique<UnpackedChunk>(unpack_events(reader_, places_[index], spare_, raw));
      {
        const std::lock_guard lock(mutex_);
        ready_[index] = std::move(chunk);
      }
      filled_.notify_all();
    }
  }

  const TraceReader& reader_;
  std::vector<ChunkPlace> places_;
  std::vector<std::unique_ptr<UnpackedChunk>> ready_;
  SpareLists spare_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::size_t ahead_ = 0;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

EventStreamResult for_each_event_block(TraceReader& reader,
                                       const std::function<void(const EventBlock&)>& visit,
                                       const OnProgress& progress) {
  constexpr std::size_t kMostWarnings = 10;
  EventStreamResult result;
  std::uint64_t expected = 0;
  std::uint64_t given_up = 0;
  std::map<std::uint64_t, std::uint64_t> recorded;  // by thread, as its counters say
  const auto warn = [&](std::uint64_t number, const std::string& what) {
    if (result.warnings.size() < kMostWarnings) {
      result.warnings.push_back("the block of events from number " + std::to_string(number) +
                                " on " + what);
    }
  };
  std::vector<ChunkPlace> places;
  for (const ChunkPlace& place : reader.chunks()) {
    if (place.frame.content != static_cast<std::uint16_t>(format::ChunkContent::kRows))
      places.push_back(place);
  }
  std::uint64_t all_bytes = 0;
  for (const ChunkPlace& place : places) all_bytes += place.frame.stored_bytes;
  std::uint64_t done_bytes = 0;

  Unpackers unpackers(reader, places);
  bool broken = false;  // the events of a damaged block do not follow from those before
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::unique_ptr<UnpackedChunk> chunk = unpackers.take(i);
    given_up += chunk->given_up;
    for (const auto& counters : chunk->counters) recorded[counters.thread] = counters.recorded;
    for (const Unpacked& block : chunk->blocks) {
      if (block.count > format::kMostBlockEvents || block.number < expected) {
        warn(block.number, "makes no sense and is left out");
        continue;
      }
      const std::uint64_t jump = block.number - expected;
      result.skipped += std::min(block.skipped, jump);
      result.missing += jump - std::min(block.skipped, jump);
      expected = block.number + block.count;
      if (block.count == 0) continue;
      if (!block.whole) {
        result.missing += block.count - block.events.size();
        warn(block.number, "is damaged: " + std::to_string(block.events.size()) + " of " +
                               std::to_string(block.count) + " can be read");
      }
      result.events += block.events.size();
      visit({block.events, jump + (broken ? 1 : 0)});
      broken = !block.whole;
    }
    unpackers.give_back(*chunk);
    done_bytes += places[i].frame.stored_bytes;
    if (progress) progress(done_bytes, all_bytes);
  }
  // What was lost behind the last block, by the counters of the run's end.
  std::uint64_t all = 0;
  for (const auto& [thread, count] : recorded) all += count;
  if (expected > 0 && all > expected) result.missing += all - expected;
  given_up = std::min(given_up, result.missing);
  result.given_up = given_up;
  result.missing -= given_up;
  return result;
}

}  // namespace hitch::load
