// How fast the recorder takes events out of the pool, joins and sums them: the pool is filled by
// fake threads first, only the draining is timed. The mix is a game's: 500,000 live blocks replaced
// at random in bursts, 2,000 call sites of which few are hot, some reallocs, a present every 8,000
// events.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <vector>

#include "recorder/drain/drainer.h"
#include "recorder/frames/frame_aggregator.h"
#include "recorder/write/trace_writer.h"
#include "support/fake_game.h"

namespace hitch {
namespace {

constexpr std::uint64_t kLiveBlocks = 500'000;
constexpr std::uint64_t kSites = 2'000;
constexpr std::uint64_t kHz = 2'000'000'000;

class Game {
 public:
  Game(support::FakePool pool, unsigned threads) {
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back(pool, t + 1);
    for (std::uint64_t i = 0; i < kLiveBlocks; ++i) {
      blocks_.push_back(0x550000000000 + i * 96);
      parked_.push_back(0x560000000000 + i * 96);
    }
  }

  // Writes until the pool is full, or `most` events. Returns how many.
  std::uint64_t fill(std::uint64_t most, support::FakePool pool) {
    std::uint64_t written = 0;
    support::FakeThread* thread = &threads_[0];
    while (written < most &&
           pool.header().free_chunks.count.load(std::memory_order_relaxed) > 2 * threads_.size()) {
      if (written % 50 == 0) thread = &threads_[random_() % threads_.size()];
      key_ += 200;
      const std::uint64_t site = 0x400000 + std::min(random_() % kSites, random_() % kSites) * 16;
      const std::size_t which = random_() % blocks_.size();
      if (written % 40 == 0) {
        thread->realloc_begin(key_ - 40, blocks_[which], site);
        std::swap(blocks_[which], parked_[which]);
        thread->realloc_end(format::BufferKind::kReallocMoved, key_, blocks_[which], 64, site, 40);
        written += 1;
      } else {
        thread->free(key_ - 100, blocks_[which], site, 60);
        std::swap(blocks_[which], parked_[which]);
        thread->alloc(key_, blocks_[which], random_() % 300, site + 8, 50);
        written += 2;
      }
      if (written % 8000 < 2) {
        ++key_;
        threads_[0].frame(key_ - 6, key_);
      }
    }
    return written;
  }
  // The first allocation of every block.
  void begin(drain::Drainer& drainer) {
    for (const std::uint64_t block : blocks_) {
      key_ += 50;
      threads_[0].alloc(key_, block, 64, 0x400000, 20);
      if (key_ % 500'000 == 0) drainer.drain();
    }
    drainer.drain();
  }
  std::uint64_t key() const { return key_; }

 private:
  std::vector<support::FakeThread> threads_;
  std::vector<std::uint64_t> blocks_;
  std::vector<std::uint64_t> parked_;
  std::mt19937_64 random_{42};
  std::uint64_t key_ = 1000;
};

void record(benchmark::State& state, resolve::RecordOut& out) {
  drain::PoolError error;
  const auto pool = drain::SharedPool::create(64 << 20, error);
  if (!pool) {
    state.SkipWithError(error.what.c_str());
    return;
  }
  frames::AggregatorConfig config;
  config.tsc_hz = kHz;
  const resolve::ProcessFiles process(getpid());
  frames::FrameAggregator frames(config, process, false, out);
  const support::FakePool view = support::view_of(&pool->header());
  Game game(view, static_cast<unsigned>(state.range(0)));
  drain::Drainer drainer(*pool, frames, [&game] { return game.key(); });
  game.begin(drainer);
  std::uint64_t events = 0;
  for (auto _ : state) {
    state.PauseTiming();
    events += game.fill(400'000, view);
    state.ResumeTiming();
    drainer.drain();
    frames.advance(drainer.horizon(), drainer.horizon() * 1000 / kHz);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["per_event"] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["live"] = static_cast<double>(frames.blocks().live().count());
}

void drain_resolve_frames(benchmark::State& state) {
  resolve::NullOut out;
  record(state, out);
}
BENCHMARK(drain_resolve_frames)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

void drain_resolve_frames_write(benchmark::State& state) {
  write::TraceWriter out(std::make_unique<write::NullSink>(), kHz, 0);
  record(state, out);
}
BENCHMARK(drain_resolve_frames_write)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hitch

BENCHMARK_MAIN();
