#include "recorder/frames/event_keeper.h"

#include <algorithm>

namespace hitch::frames {

void EventKeeper::tick(std::uint64_t now_ms) {
  constexpr std::uint64_t kBlockMs = 2000;
  if (now_ms < flushed_ms_ + kBlockMs) return;
  flushed_ms_ = now_ms;
  flush();
}

void EventKeeper::flush() {
  if (events_.empty()) return;
  before_block_();
  format::trace::Events record;
  record.first = events_.front().key;
  record.last = record.first;
  for (const format::KeptEvent& event : events_) {
    record.first = std::min(record.first, event.key);
    record.last = std::max(record.last, event.key);
  }
  record.number = first_;
  record.count = events_.size();
  record.block = format::encode_events(events_, shift_);
  out_.put(record);
  first_ += events_.size();
  events_.clear();
}

}  // namespace hitch::frames
