#include "recorder/frames/event_keeper.h"

#include <algorithm>

namespace hitch::frames {

void EventKeeper::tick(std::uint64_t now_ms) {
  constexpr std::uint64_t kBlockMs = 2000;
  constexpr std::uint64_t kWaitingBlockMs = 100;
  if (now_ms < flushed_ms_ + (config_.hitches_only ? kWaitingBlockMs : kBlockMs)) return;
  flushed_ms_ = now_ms;
  flush();
}

void EventKeeper::flush() {
  if (events_.empty()) return;
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
  first_ += events_.size();
  events_.clear();
  if (!config_.hitches_only) return put(record);
  waiting_bytes_ += record.block.size();
  waiting_.push_back(std::move(record));
  while (waiting_bytes_ > kMostWaitingBytes && waiting_.size() > 1) {
    overflowed_ += waiting_.front().count;
    drop_first();
  }
}

void EventKeeper::put(format::trace::Events& block) {
  before_block_();
  block.skipped = skipped_;
  skipped_ = 0;
  out_.put(block);
}

void EventKeeper::drop_first() {
  skipped_ += waiting_.front().count;
  waiting_bytes_ -= waiting_.front().block.size();
  waiting_.pop_front();
}

void EventKeeper::judged(const format::trace::Frame& frame, bool is_hitch) {
  begins_.push_back(frame.begin);
  if (begins_.size() > config_.frames_around + 1) begins_.pop_front();
  if (is_hitch) {
    if (wanted_frames_ == 0) wanted_begin_ = begins_.front();
    wanted_frames_ = config_.frames_around + 1;
  }
  if (wanted_frames_ > 0) {
    --wanted_frames_;
    wanted_end_ = frame.end;
  }
  // A block may still be wanted by a hitch to come while it reaches into the frames before that.
  while (!waiting_.empty()) {
    format::trace::Events& block = waiting_.front();
    if (block.first <= wanted_end_ && block.last >= wanted_begin_) {
      put(block);
      waiting_bytes_ -= block.block.size();
      waiting_.pop_front();
    } else if (block.last < begins_.front()) {
      drop_first();
    } else {
      break;
    }
  }
}

void EventKeeper::set_paused(bool paused) {
  if (paused == paused_) return;
  flush();
  paused_ = paused;
}

void EventKeeper::finish() {
  flush();
  while (!waiting_.empty()) drop_first();
  if (skipped_ == 0) return;
  format::trace::Events rest;
  rest.number = first_;
  put(rest);
}

}  // namespace hitch::frames
