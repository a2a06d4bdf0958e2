// Which frame a moment belongs to, which frames are still open, and when they are written.
//
//   windows (before the first present)        frames
//   |--1--|--1--|--1--|-1-|------0------|------0------|----0---- ...      |--2--|
//                          ^ first present's exit: the running window is cut there
//
// A frame is (begin, end]. Ended frames stay open for a moment, because threads publish late; then
// their rows are written. What comes later still goes into further rows of the same id.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "recorder/drain/event.h"
#include "recorder/frames/frame_rows.h"
#include "recorder/resolve/record_out.h"

namespace hitch::frames {

struct OpenFrame {
  format::trace::Frame record;  // id, begin; the rest when it ends
  FrameRows rows;
  std::map<std::uint32_t, ThreadDigest> digests;
  std::uint64_t rows_written_at = 0;  // key
};

// Told about each frame when it is written.
struct ClosedFrame {
  const format::trace::Frame& record;
  const ThreadDigest& presenting;  // of the presenting thread; of the busiest when there is none
  std::uint32_t busiest_thread;
};

class FrameTimeline {
 public:
  struct Config {
    std::uint64_t window_ticks;
    std::uint64_t grace_ticks;    // an ended frame stays open this long
    std::uint64_t partial_ticks;  // a frame that lasts longer is written in parts
  };
  // Called before rows are written, so that what they refer to is written first.
  using BeforeRows = std::function<void()>;
  using OnClosed = std::function<void(const ClosedFrame&)>;
  // Completes a frame's record at its end: live blocks, last message, heaps' states.
  using OnEnd = std::function<void(OpenFrame&)>;

  FrameTimeline(Config config, resolve::RecordOut& out);
  void set_callbacks(BeforeRows before, OnEnd at_end);
  void set_on_closed(OnClosed closed) { on_closed_ = std::move(closed); }
  void set_prices(const OwnPrices& prices) { prices_ = prices; }

  OpenFrame& current() { return *open_.back(); }
  // The frame in which something that started at `start` belongs.
  OpenFrame& at(std::uint64_t start) {
    OpenFrame& newest = *open_.back();
    if (start > newest.record.begin && start <= window_end_) [[likely]] {
      return newest;
    }
    return at_slow(start);
  }
  // Id of the frame that holds a moment, for records that are no rows.
  std::uint64_t frame_at(std::uint64_t moment) const;
  // Sets flags on every open frame that meets [first, last].
  void mark(std::uint64_t first, std::uint64_t last, std::uint64_t flags);
  // The rows of a frame by id, for what is known to belong to it.
  FrameRows& rows_of(std::uint64_t frame);

  // Presents. `key` is the exit; the current frame ends there.
  bool has_presents() const { return has_presents_; }
  std::uint64_t presents() const { return presents_; }
  void cut_at_present(const format::FrameRecord& present, std::uint32_t thread,
                      const format::trace::Frame& measured);

  // Every event up to `horizon` has been seen: ends windows, writes what is due.
  void advance(std::uint64_t horizon);
  // Raises the shared frame epoch and returns the one that ended; only while there is no present.
  void set_epoch_bump(std::function<std::uint32_t()> bump) { bump_epoch_ = std::move(bump); }
  std::uint64_t frame_of_epoch(std::uint32_t epoch) const;

  void finish(std::uint64_t end);

  std::uint64_t late() const { return late_; }

 private:
  OpenFrame& at_slow(std::uint64_t start);
  std::uint64_t past_frame_at(std::uint64_t moment) const;
  OpenFrame& late_frame(std::uint64_t id);
  // Ends the current frame at `end` and opens the next.
  void cut(std::uint64_t end, std::uint64_t kind);
  void cut_windows(std::uint64_t until);
  void write_rows(OpenFrame& frame);
  void write_frame(OpenFrame& frame);
  void write_late();
  void note_epoch(std::uint32_t ended, std::uint64_t frame);

  static constexpr std::size_t kMostOpen = 256;
  static constexpr std::size_t kRemembered = 4096;

  struct Past {
    std::uint64_t begin;
    std::uint64_t id;
  };
  struct EndedEpoch {
    std::uint32_t epoch;
    std::uint64_t frame;
  };

  Config config_;
  resolve::RecordOut& out_;
  BeforeRows before_rows_;
  OnEnd at_end_;
  OnClosed on_closed_;
  std::function<std::uint32_t()> bump_epoch_;
  OwnPrices prices_;
  std::deque<std::unique_ptr<OpenFrame>> open_;  // by id; the last is the current one
  std::vector<std::unique_ptr<OpenFrame>> spare_;
  std::map<std::uint64_t, std::unique_ptr<OpenFrame>> late_frames_;  // written before, amended
  std::deque<Past> past_;                                            // frames written lately
  std::deque<EndedEpoch> epochs_;
  std::uint64_t window_end_;  // of the current window; no end once there are presents
  std::uint64_t late_written_at_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t presents_ = 0;
  bool has_presents_ = false;
};

}  // namespace hitch::frames
