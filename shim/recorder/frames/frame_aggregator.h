// Sums the events of all threads into frames, and writes what the trace keeps one by one.
//
// An event belongs to the frame in which it starts. Each duration has the smallest difference of
// two clock reads taken off. A release's duration arrives with the thread's next record and is
// added to the frame and site of the release.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/shared_memory.h"
#include "recorder/drain/event.h"
#include "recorder/frames/event_keeper.h"
#include "recorder/frames/frame_timeline.h"
#include "recorder/frames/kernel_log.h"
#include "recorder/frames/latencies.h"
#include "recorder/frames/overlaps.h"
#include "recorder/frames/present_picker.h"
#include "recorder/frames/thread_log.h"
#include "recorder/resolve/block_ledger.h"
#include "recorder/resolve/heaps.h"
#include "recorder/resolve/modules.h"
#include "recorder/resolve/sites.h"
#include "recorder/resolve/stacks.h"
#include "recorder/resolve/texts.h"
#include "recorder/resolve/threads.h"

namespace hitch::frames {

struct AggregatorConfig {
  std::uint64_t tsc_hz = 1'000'000'000;
  double window_ms = 16.67;
  std::uint64_t large_block_bytes = 1024 * 1024;
  format::Level level = format::Level::kTrace;
  format::TimeMode time_mode = format::TimeMode::kAll;
  bool keep_events = false;
  bool keep_hitches_only = false;
  std::uint64_t keep_around = 30;  // frames, with keep_hitches_only
};

class FrameAggregator final : public drain::EventSink {
 public:
  FrameAggregator(const AggregatorConfig& config, const resolve::ProcessFiles& process,
                  bool translate_thread_ids, resolve::RecordOut& out);

  void on_thread_start(std::uint32_t thread, std::uint32_t tid) override;
  void on_events(std::span<const drain::Event> events) override;
  void on_loss(std::uint32_t thread, const drain::Loss& loss) override;
  void on_thread_end(std::uint32_t thread, const drain::SlotCounters& counters) override;

  // Prices the game has measured; may be told again when they change.
  void set_prices(std::uint64_t pair_floor, const OwnPrices& own);
  void note_pool_use(std::uint64_t chunks);
  // After each drain.
  void advance(std::uint64_t horizon, std::uint64_t now_ms);
  // After the last: closes everything but the kept events. Repair and End records are the caller's.
  void finish(std::uint64_t end);
  // Once every frame is judged.
  void finish_events();

  // Whether a frame was a hitch, in order; what --keep hitches keeps follows from it.
  void judged(const format::trace::Frame& frame, bool is_hitch) {
    kernel_.judged(frame, is_hitch);
    if (keeper_ != nullptr && config_.keep_hitches_only) keeper_->judged(frame, is_hitch);
  }
  // Paused: no event is kept. Live blocks are followed all the same.
  void set_paused(bool paused) {
    if (keeper_ != nullptr) keeper_->set_paused(paused);
  }
  std::uint64_t overflowed_events() const { return keeper_ != nullptr ? keeper_->overflowed() : 0; }
  // Called when the game asks for recording to go on or to pause.
  void set_on_request(std::function<void(bool on)> on_request) {
    on_request_ = std::move(on_request);
  }

  resolve::Threads& threads() { return threads_; }
  resolve::Modules& modules() { return modules_; }
  resolve::Sites& sites() { return sites_; }
  resolve::Texts& texts() { return texts_; }
  const resolve::Stacks& stacks() const { return stacks_; }
  const resolve::BlockLedger& blocks() const { return blocks_; }
  FrameTimeline& timeline() { return timeline_; }
  KernelLog& kernel() { return kernel_; }

  using OnOutlier = std::function<void(const format::trace::Outlier&)>;
  void set_on_outlier(OnOutlier on_outlier) { on_outlier_ = std::move(on_outlier); }

 private:
  struct Cell {
    FrameRows& rows;
    std::uint64_t frame;
    std::uint32_t thread_row;
    std::uint32_t site_row;
    std::uint32_t site;
  };
  Cell cell(ThreadLog& log, std::uint32_t thread, std::uint64_t start,
            const resolve::CallSite& call_site, format::Op op);
  ThreadRow& thread_row(ThreadLog& log, std::uint32_t thread, FrameRows& rows);
  std::uint64_t net(std::uint64_t ticks) const {
    return ticks > pair_floor_ ? ticks - pair_floor_ : 0;
  }

  void prefetch(const drain::Event& event) const;
  void alloc(const drain::Event& event);
  void free(const drain::Event& event);
  void realloc_begin(const drain::Event& event);
  void realloc_end(const drain::Event& event);
  void rare(const drain::Event& event);
  void settle_free(ThreadLog& log, std::uint32_t thread, std::uint64_t ticks);
  void count_tag(ThreadLog& log, std::uint32_t thread, FrameRows& rows, std::uint64_t bytes,
                 std::uint64_t ticks);
  void stack(const drain::Event& event);
  void heap_event(const drain::Event& event);
  void map_event(const drain::Event& event);
  void present(const drain::Event& event);
  void flush(const drain::Event& event);
  void outlier(const drain::Event& event);
  void message(const drain::Event& event);
  void forget_open_calls(ThreadLog& log);
  void forget_reused_addresses();
  void add_flushed(FrameRows& rows, std::uint32_t thread, std::uint64_t allocs, std::uint64_t frees,
                   std::uint64_t reallocs, std::uint64_t bytes, std::uint64_t ticks);
  // What the kernel told about the time of a call, and what the presenting thread missed meanwhile.
  void join_kernel(ThreadLog& log, ThreadRow& row, const CallSpan& call);
  void put_large_block(std::uint64_t time, std::uint64_t frame, std::uint32_t thread,
                       const drain::Event& event, std::uint64_t size, std::uint32_t site);
  void complete_frame(OpenFrame& frame);
  void put_gap(std::uint32_t thread, std::uint64_t reason, const drain::Loss& loss);

  ThreadLog& log_of(std::uint32_t thread) { return *logs_[thread]; }

  AggregatorConfig config_;
  resolve::RecordOut& out_;
  resolve::Modules modules_;
  resolve::Stacks stacks_;
  resolve::Sites sites_;
  resolve::Texts texts_;
  resolve::Threads threads_;
  resolve::BlockLedger blocks_;
  resolve::Heaps heaps_;
  FrameTimeline timeline_;
  KernelLog kernel_;
  Overlaps overlaps_;
  PresentPicker picker_;
  Latencies latencies_;
  OnOutlier on_outlier_;
  std::function<void(bool)> on_request_;
  std::unique_ptr<EventKeeper> keeper_;           // null: events are not kept one by one
  std::vector<std::unique_ptr<ThreadLog>> logs_;  // by dense thread id; null once ended
  std::unordered_map<std::uint32_t, std::uint64_t> tag_texts_;
  std::uint32_t last_presenter_ = 0;
  std::optional<format::FrameRecord> last_present_;  // the last boundary
  bool timed_allocs_;
  bool timed_frees_;
  std::uint64_t pair_floor_ = 0;
  std::uint64_t last_message_ = 0;
  std::uint64_t last_key_ = 0;
  std::uint64_t now_ms_ = 0;
};

}  // namespace hitch::frames
