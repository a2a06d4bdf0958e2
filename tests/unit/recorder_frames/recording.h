// Pool, drainer and aggregator around a fake game, with a clock the test sets. One tick is one
// microsecond.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "recorder/drain/drainer.h"
#include "recorder/frames/frame_aggregator.h"
#include "support/fake_game.h"
#include "support/record_list.h"

namespace hitch::frames {

namespace trace = format::trace;

class Recording : public ::testing::Test {
 protected:
  static AggregatorConfig microseconds() {
    AggregatorConfig config;
    config.tsc_hz = 1'000'000;
    config.window_ms = 10;
    return config;
  }
  explicit Recording(AggregatorConfig config = microseconds(), std::uint64_t bytes = 8 << 20)
      : process_(getpid()) {
    drain::PoolError error;
    pool_ = drain::SharedPool::create(bytes, error);
    game_ = support::view_of(&pool_->header());
    frames_ = std::make_unique<FrameAggregator>(config, process_, false, out_);
    drainer_ = std::make_unique<drain::Drainer>(*pool_, *frames_, [this] { return now_.load(); });
  }

  // Drains at `now` and writes what is due.
  void drain(std::uint64_t now) {
    now_ = now;
    drainer_->drain();
    frames_->advance(drainer_->horizon(), now / 1000);
  }
  void finish(std::uint64_t now) {
    now_ = now;
    drainer_->finish();
    frames_->finish(now);
  }

  // The frame's record; fails the test when it was not written exactly once.
  trace::Frame frame(std::uint64_t id) const {
    trace::Frame found;
    unsigned times = 0;
    for (const trace::Frame& record : out_.all<trace::Frame>()) {
      if (record.id != id) continue;
      found = record;
      ++times;
    }
    EXPECT_EQ(times, 1u) << "frame " << id;
    return found;
  }
  // Sum of the rows of one frame and thread.
  trace::FrameThread row(std::uint64_t frame, std::uint64_t thread = 0) const {
    trace::FrameThread sum;
    for (const trace::FrameThread& r : out_.all<trace::FrameThread>()) {
      if (r.frame != frame || r.thread != thread) continue;
      sum.allocs += r.allocs;
      sum.frees += r.frees;
      sum.reallocs += r.reallocs;
      sum.bytes += r.bytes;
      sum.alloc_ticks += r.alloc_ticks;
      sum.free_ticks += r.free_ticks;
      sum.realloc_ticks += r.realloc_ticks;
      sum.slowest_ticks = std::max(sum.slowest_ticks, r.slowest_ticks);
      sum.heap_allocs += r.heap_allocs;
      sum.heap_frees += r.heap_frees;
      sum.heap_bytes += r.heap_bytes;
      sum.map_calls += r.map_calls;
      sum.map_bytes += r.map_bytes;
      sum.own_ticks += r.own_ticks;
    }
    return sum;
  }

  support::RecordList out_;
  resolve::ProcessFiles process_;
  std::unique_ptr<drain::SharedPool> pool_;
  support::FakePool game_;
  std::atomic<std::uint64_t> now_{0};
  std::unique_ptr<FrameAggregator> frames_;
  std::unique_ptr<drain::Drainer> drainer_;
};

}  // namespace hitch::frames
