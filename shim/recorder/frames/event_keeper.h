// Option `keep all`: gathers every event and writes them block by block (format/event_block.h).
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "format/event_block.h"
#include "recorder/resolve/record_out.h"

namespace hitch::frames {

class EventKeeper {
 public:
  // `before_block` writes what the events name.
  EventKeeper(resolve::RecordOut& out, std::uint64_t ticks_per_second,
              std::function<void()> before_block)
      : out_(out),
        shift_(format::event_shift(ticks_per_second)),
        before_block_(std::move(before_block)) {
    events_.reserve(format::kMostBlockEvents);
  }

  // Returns what set_ticks() wants to know. Events of one thread in the order of their keys.
  std::uint64_t add(const format::KeptEvent& event) {
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
  // takes no more than that along.
  void tick(std::uint64_t now_ms);

 private:
  resolve::RecordOut& out_;
  unsigned shift_;
  std::function<void()> before_block_;
  std::uint64_t flushed_ms_ = 0;
  std::vector<format::KeptEvent> events_;
  std::uint64_t first_ = 0;  // how many were written before
};

}  // namespace hitch::frames
