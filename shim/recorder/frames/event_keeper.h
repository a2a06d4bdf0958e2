// Option keep: gathers events and writes them block by block (format/event_block.h).
//
//   keep all      add() ... add() | block -> file
//   keep hitches  add() ... add() | block -> waits until the frames it meets are judged -> file, or
//                 dropped. A frame is judged about a second after its end (format/hitch_rule.h), so
//                 blocks of a few frames wait, packed, in bounded memory.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "format/event_block.h"
#include "recorder/resolve/record_out.h"

namespace hitch::frames {

class EventKeeper {
 public:
  struct Config {
    std::uint64_t ticks_per_second = 1'000'000'000;
    bool hitches_only = false;
    std::uint64_t frames_around = 30;  // a hitch
  };
  // `before_block` writes what the events name.
  EventKeeper(resolve::RecordOut& out, const Config& config, std::function<void()> before_block)
      : out_(out),
        config_(config),
        shift_(format::event_shift(config.ticks_per_second)),
        before_block_(std::move(before_block)) {
    events_.reserve(format::kMostBlockEvents);
  }

  // Returns what set_ticks() wants to know. Events of one thread in the order of their keys.
  std::uint64_t add(const format::KeptEvent& event) {
    if (paused_) [[unlikely]] {
      ++skipped_;
      return first_++;
    }
    if (events_.size() == format::kMostBlockEvents) [[unlikely]] {
      flush();
    }
    events_.push_back(event);
    return first_ + events_.size() - 1;
  }
  // A release's duration comes with the thread's next record. Of a block that was written meanwhile
  // it stays 0: not known.
  void set_ticks(std::uint64_t event, std::uint64_t ticks) {
    if (event >= first_) events_[event - first_].ticks = ticks;
  }
  void flush();
  // Writes what has gathered when the last block is two seconds old: a recorder that is killed
  // takes no more than that along. Waiting blocks are cut ten times a second.
  void tick(std::uint64_t now_ms);

  // Of every present frame, in order: whether it is a hitch. Only with `hitches_only`.
  void judged(const format::trace::Frame& frame, bool is_hitch);
  void set_paused(bool paused);
  // After the last judged(). What is still waiting is near no hitch.
  void finish();

  // Events that had to be dropped before their frame was judged.
  std::uint64_t overflowed() const { return overflowed_; }

 private:
  // Packed events; 64 MiB are about 20 million of them.
  static constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;

  void put(format::trace::Events& block);
  void drop_first();

  resolve::RecordOut& out_;
  Config config_;
  unsigned shift_;
  std::function<void()> before_block_;
  std::uint64_t flushed_ms_ = 0;
  std::vector<format::KeptEvent> events_;
  std::uint64_t first_ = 0;    // how many came before events_
  std::uint64_t skipped_ = 0;  // since the last block that was written
  bool paused_ = false;

  std::deque<format::trace::Events> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::deque<std::uint64_t> begins_;  // of the last judged frames, frames_around + 1 of them
  std::uint64_t wanted_begin_ = 0;
  std::uint64_t wanted_end_ = 0;
  std::uint64_t wanted_frames_ = 0;  // still to come after a hitch
  std::uint64_t overflowed_ = 0;
};

}  // namespace hitch::frames
