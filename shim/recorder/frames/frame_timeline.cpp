#include "recorder/frames/frame_timeline.h"

#include <algorithm>
#include <utility>

namespace hitch::frames {

namespace trace = format::trace;

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kPresentFrame = 0;
constexpr std::uint64_t kWindowFrame = 1;
constexpr std::uint64_t kUnfinishedFrame = 2;
constexpr std::uint64_t kNoRusage = 4;

}  // namespace

FrameTimeline::FrameTimeline(Config config, resolve::RecordOut& out)
    : config_(config), out_(out), window_end_(config.window_ticks) {
  open_.push_back(std::make_unique<OpenFrame>());
}

void FrameTimeline::set_callbacks(BeforeRows before, OnEnd at_end) {
  before_rows_ = std::move(before);
  at_end_ = std::move(at_end);
}

OpenFrame& FrameTimeline::at_slow(std::uint64_t start) {
  if (start > window_end_) {
    cut_windows(start - 1);
    return *open_.back();
  }
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (start > open_[i]->record.begin || open_[i]->record.id == 0) return *open_[i];
  }
  ++late_;
  return late_frame(past_frame_at(start));
}

std::uint64_t FrameTimeline::past_frame_at(std::uint64_t moment) const {
  const auto after = std::upper_bound(past_.begin(), past_.end(), moment,
                                      [](std::uint64_t m, const Past& p) { return m <= p.begin; });
  if (after != past_.begin()) return std::prev(after)->id;
  return past_.empty() ? 0 : past_.front().id;
}

std::uint64_t FrameTimeline::frame_at(std::uint64_t moment) const {
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (moment > open_[i]->record.begin || open_[i]->record.id == 0) return open_[i]->record.id;
  }
  return past_frame_at(moment);
}

void FrameTimeline::mark(std::uint64_t first, std::uint64_t last, std::uint64_t flags) {
  for (std::size_t i = open_.size(); i-- > 0;) {
    trace::Frame& record = open_[i]->record;
    const bool ended = i + 1 < open_.size();
    if (last > record.begin && (!ended || first <= record.end)) record.flags |= flags;
  }
}

OpenFrame& FrameTimeline::late_frame(std::uint64_t id) {
  std::unique_ptr<OpenFrame>& frame = late_frames_[id];
  if (!frame) {
    frame = std::make_unique<OpenFrame>();
    frame->record.id = id;
  }
  return *frame;
}

FrameRows& FrameTimeline::rows_of(std::uint64_t frame) {
  const std::uint64_t first = open_.front()->record.id;
  if (frame >= first) return open_[std::min<std::size_t>(frame - first, open_.size() - 1)]->rows;
  return late_frame(frame).rows;
}

void FrameTimeline::cut(std::uint64_t end, std::uint64_t kind) {
  OpenFrame& ending = *open_.back();
  ending.record.kind = kind;
  ending.record.end = end;
  if (at_end_) at_end_(ending);
  std::unique_ptr<OpenFrame> next;
  if (spare_.empty()) {
    next = std::make_unique<OpenFrame>();
  } else {
    next = std::move(spare_.back());
    spare_.pop_back();
    next->record = {};
    next->digests.clear();
  }
  next->record.id = ending.record.id + 1;
  next->record.begin = end;
  next->rows_written_at = end;
  open_.push_back(std::move(next));
}

// Ends every window that is over at `until`.
void FrameTimeline::cut_windows(std::uint64_t until) {
  while (window_end_ <= until) {
    OpenFrame& window = *open_.back();
    window.record.api = static_cast<std::uint64_t>(format::Api::kWindow);
    window.record.flags |= kNoRusage;
    cut(window_end_, kWindowFrame);
    window_end_ += config_.window_ticks;
    if (open_.size() > kMostOpen) {
      write_frame(*open_.front());
      open_.pop_front();
    }
  }
}

void FrameTimeline::cut_at_present(const format::FrameRecord& present, std::uint32_t thread,
                                   const format::trace::Frame& measured) {
  const std::uint64_t exit = format::key_of(present.head);
  OpenFrame* ending = open_.back().get();
  ++presents_;
  if (!has_presents_) {
    cut_windows(exit - std::min<std::uint64_t>(exit, 1));
    ending = open_.back().get();
    has_presents_ = true;
    window_end_ = kNever;
    ending->record.api = static_cast<std::uint64_t>(format::Api::kWindow);
    ending->record.flags |= kNoRusage;
    note_epoch(present.epoch, ending->record.id);
    cut(std::max(exit, ending->record.begin), kWindowFrame);
    return;
  }
  format::trace::Frame& record = ending->record;
  record.thread = thread + std::uint64_t{1};
  record.api = present.api;
  record.present_ticks = measured.present_ticks;
  record.present_off_ticks = measured.present_off_ticks;
  record.present_preempted_ticks = measured.present_preempted_ticks;
  record.sleep_ticks = measured.sleep_ticks;
  record.cpu_ns = measured.cpu_ns;
  record.present_cpu_ns = measured.present_cpu_ns;
  record.voluntary = measured.voluntary;
  record.involuntary = measured.involuntary;
  record.minor_faults = measured.minor_faults;
  record.major_faults = measured.major_faults;
  record.process_minor_faults = measured.process_minor_faults;
  record.process_major_faults = measured.process_major_faults;
  record.process_cpu_ns = measured.process_cpu_ns;
  record.flags |= measured.flags;
  note_epoch(present.epoch, record.id);
  cut(std::max(exit, record.begin), kPresentFrame);
}

void FrameTimeline::note_epoch(std::uint32_t ended, std::uint64_t frame) {
  if (!epochs_.empty() && ended <= epochs_.back().epoch) {
    epochs_.back().frame = std::max(epochs_.back().frame, frame);
    return;
  }
  epochs_.push_back({ended, frame});
  if (epochs_.size() > kRemembered) epochs_.pop_front();
}

std::uint64_t FrameTimeline::frame_of_epoch(std::uint32_t epoch) const {
  const auto place =
      std::lower_bound(epochs_.begin(), epochs_.end(), epoch,
                       [](const EndedEpoch& e, std::uint32_t value) { return e.epoch < value; });
  return place != epochs_.end() ? place->frame : open_.back()->record.id;
}

void FrameTimeline::write_rows(OpenFrame& frame) {
  if (frame.rows.empty()) return;
  if (before_rows_) before_rows_();
  frame.rows.write(frame.record.id, prices_, out_, frame.digests);
}

void FrameTimeline::write_frame(OpenFrame& frame) {
  write_rows(frame);
  const ThreadDigest none;
  const ThreadDigest* shown = &none;
  std::uint32_t busiest = 0;
  std::uint64_t most = 0;
  for (const auto& [thread, digest] : frame.digests) {
    if (digest.ticks < most) continue;
    most = digest.ticks;
    busiest = thread;
    shown = &digest;
  }
  if (frame.record.thread != 0) {
    const auto own = frame.digests.find(static_cast<std::uint32_t>(frame.record.thread - 1));
    shown = own != frame.digests.end() ? &own->second : &none;
    frame.record.own_ticks = shown->own_ticks;
  }
  out_.put(frame.record);
  past_.push_back({frame.record.begin, frame.record.id});
  if (past_.size() > kRemembered) past_.pop_front();
  if (on_closed_) on_closed_({frame.record, *shown, busiest});
}

void FrameTimeline::write_late() {
  if (late_frames_.empty()) return;
  for (auto& [id, frame] : late_frames_) write_rows(*frame);
  late_frames_.clear();
}

void FrameTimeline::advance(std::uint64_t horizon) {
  if (!has_presents_ && window_end_ <= horizon) {
    cut_windows(horizon);
    if (bump_epoch_) note_epoch(bump_epoch_(), open_.back()->record.id - 1);
  }
  while (open_.size() > 1 &&
         (open_.front()->record.end + config_.grace_ticks <= horizon || open_.size() > kMostOpen)) {
    write_frame(*open_.front());
    spare_.push_back(std::move(open_.front()));
    open_.pop_front();
  }
  OpenFrame& running = *open_.back();
  if (running.rows_written_at + config_.partial_ticks <= horizon) {
    write_rows(running);
    running.rows_written_at = horizon;
  }
  if (late_written_at_ + config_.partial_ticks <= horizon || late_frames_.size() > kMostOpen) {
    write_late();
    late_written_at_ = horizon;
  }
}

void FrameTimeline::finish(std::uint64_t end) {
  OpenFrame& last = *open_.back();
  last.record.end = std::max(end, last.record.begin);
  last.record.kind = has_presents_ ? kUnfinishedFrame : kWindowFrame;
  if (!has_presents_) last.record.api = static_cast<std::uint64_t>(format::Api::kWindow);
  last.record.flags |= kNoRusage;
  if (at_end_) at_end_(last);
  for (const auto& frame : open_) write_frame(*frame);
  write_late();
}

}  // namespace hitch::frames
