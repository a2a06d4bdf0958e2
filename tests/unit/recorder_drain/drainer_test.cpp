#include "recorder/drain/drainer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "support/fake_game.h"

namespace hitch::drain {
namespace {

using format::BufferKind;
using support::FakeThread;

struct Collected final : EventSink {
  std::vector<Event> events;
  std::map<std::uint32_t, std::uint32_t> tids;
  std::map<std::uint32_t, SlotCounters> ended;
  std::vector<Loss> losses;

  void on_thread_start(std::uint32_t thread, std::uint32_t tid) override { tids[thread] = tid; }
  void on_events(std::span<const Event> batch) override {
    events.insert(events.end(), batch.begin(), batch.end());
  }
  void on_loss(std::uint32_t, const Loss& loss) override { losses.push_back(loss); }
  void on_thread_end(std::uint32_t thread, const SlotCounters& counters) override {
    ended[thread] = counters;
  }
};

class DrainerTest : public ::testing::Test {
 protected:
  explicit DrainerTest(std::uint64_t bytes = 8 << 20) {
    PoolError error;
    pool_ = SharedPool::create(bytes, error);
    game_ = support::view_of(&pool_->header());
    drainer_ = std::make_unique<Drainer>(*pool_, sink_, [this] { return now_.load(); });
  }
  std::vector<std::uint64_t> keys() const {
    std::vector<std::uint64_t> all;
    for (const Event& event : sink_.events) all.push_back(event.key);
    return all;
  }

  std::unique_ptr<SharedPool> pool_;
  support::FakePool game_;
  Collected sink_;
  std::atomic<std::uint64_t> now_{0};
  std::unique_ptr<Drainer> drainer_;
};

TEST_F(DrainerTest, TakesRecordsApart) {
  FakeThread thread(game_, 77);
  thread.alloc(100, 0x7f0000001000, 48, 0x400123, 20, format::Op::kCalloc);
  thread.free(200, 0x7f0000001000, 0x400456, 0x12345, format::Op::kDelete);
  thread.alloc(300, 0x7f0000002000, std::uint64_t{5} << 32, 0x400123, 7);
  now_ = 1000;
  EXPECT_EQ(drainer_->drain(), 3u);
  ASSERT_EQ(sink_.events.size(), 3u);
  EXPECT_EQ(sink_.tids.at(0), 77u);
  const Event& alloc = sink_.events[0];
  EXPECT_EQ(alloc.kind, BufferKind::kAlloc);
  EXPECT_EQ(alloc.op, format::Op::kCalloc);
  EXPECT_EQ(alloc.key, 100u);
  EXPECT_EQ(alloc.block, 0x7f0000001000u);
  EXPECT_EQ(alloc.caller, 0x400123u);
  EXPECT_EQ(alloc.size, 48u);
  EXPECT_EQ(alloc.ticks, 20u);
  EXPECT_EQ(alloc.previous_free_ticks, 0u);
  EXPECT_EQ(sink_.events[1].kind, BufferKind::kFree);
  EXPECT_EQ(sink_.events[1].op, format::Op::kDelete);
  EXPECT_EQ(sink_.events[1].block, 0x7f0000001000u);
  // The wide form, with the release's duration in the two top halves.
  EXPECT_EQ(sink_.events[2].kind, BufferKind::kAllocWide);
  EXPECT_EQ(sink_.events[2].size, std::uint64_t{5} << 32);
  EXPECT_EQ(sink_.events[2].ticks, 7u);
  EXPECT_EQ(sink_.events[2].previous_free_ticks, 0x12345u);
}

TEST_F(DrainerTest, MergesThreadsByKeyAndHoldsBackTheRest) {
  FakeThread a(game_, 1);
  FakeThread b(game_, 2);
  FakeThread c(game_, 3);
  for (const std::uint64_t key : {10u, 40u, 90u}) a.alloc(key, key, 1, 1, 0);
  for (const std::uint64_t key : {20u, 30u, 70u}) b.alloc(key, key, 1, 1, 0);
  for (const std::uint64_t key : {15u, 95u, 120u}) c.alloc(key, key, 1, 1, 0);
  now_ = 60;
  EXPECT_EQ(drainer_->drain(), 5u);
  EXPECT_EQ(keys(), (std::vector<std::uint64_t>{10, 15, 20, 30, 40}));
  EXPECT_EQ(drainer_->horizon(), 60u);
  now_ = 100;
  EXPECT_EQ(drainer_->drain(), 3u);
  EXPECT_EQ(keys(), (std::vector<std::uint64_t>{10, 15, 20, 30, 40, 70, 90, 95}));
  now_ = 200;
  drainer_->drain();
  EXPECT_EQ(keys().back(), 120u);
}

TEST_F(DrainerTest, RandomStreamsComeOutSorted) {
  std::mt19937 random(5);
  std::vector<FakeThread> threads;
  for (std::uint32_t t = 0; t < 9; ++t) threads.emplace_back(game_, t + 1);
  std::uint64_t key = 1;
  std::size_t written = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < 1500; ++i) {
      key += random() % 3;
      threads[random() % threads.size()].alloc(key, i + 1, 1, 1, 0);
      ++written;
    }
    now_ = key - 50;
    drainer_->drain();
  }
  now_ = key;
  drainer_->drain();
  const auto all = keys();
  EXPECT_EQ(all.size(), written);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST_F(DrainerTest, LateRecordsKeepTheirKey) {
  FakeThread a(game_, 1);
  FakeThread b(game_, 2);
  a.alloc(50, 1, 1, 1, 0);
  now_ = 100;
  drainer_->drain();
  b.alloc(60, 2, 1, 1, 0);  // taken before, published after the drain
  now_ = 110;
  drainer_->drain();
  EXPECT_EQ(keys(), (std::vector<std::uint64_t>{50, 60}));
}

TEST_F(DrainerTest, FollowsChunksAndReturnsThem) {
  FakeThread thread(game_, 1);
  const std::uint32_t all = pool_->free_chunks();
  std::uint64_t key = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 10000; ++i) {
      ++key;
      ASSERT_TRUE(thread.alloc(key, key, 1, 1, 0));
    }
    now_ = key;
    drainer_->drain();
  }
  EXPECT_EQ(sink_.events.size(), key);
  EXPECT_EQ(pool_->free_chunks(), all - 1);  // the one being written
  EXPECT_GE(drainer_->chunks_peak(), 4u);
  EXPECT_TRUE(sink_.losses.empty());
}

class SmallDrainerTest : public DrainerTest {
 protected:
  SmallDrainerTest() : DrainerTest(0) {}  // four chunks
};

TEST_F(SmallDrainerTest, LossesAreReportedExactlyAndDoNotStopTheThread) {
  FakeThread thread(game_, 1);
  std::uint64_t lost = 0;
  std::uint64_t key = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20000; ++i) {
      ++key;
      if (!thread.alloc(key, key, 3, 1, 2)) ++lost;
    }
    now_ = key;
    drainer_->drain();
  }
  ASSERT_GT(lost, 0u);
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  for (const Loss& loss : sink_.losses) {
    events += loss.events;
    bytes += loss.bytes;
    ticks += loss.ticks;
    EXPECT_LE(loss.first_key, loss.last_key);
  }
  EXPECT_EQ(events, lost);
  EXPECT_EQ(bytes, 3 * lost);
  EXPECT_EQ(ticks, 2 * lost);
  std::size_t recorded = 0;
  std::size_t gap_ends = 0;
  for (const Event& event : sink_.events) {
    recorded += event.kind == BufferKind::kAlloc ? 1 : 0;
    gap_ends += event.kind == BufferKind::kGapEnd ? 1 : 0;
  }
  EXPECT_EQ(recorded + lost, key);
  EXPECT_GE(gap_ends, 1u);
  drainer_->finish();
  EXPECT_EQ(sink_.ended.at(0).allocs, key);
}

TEST_F(DrainerTest, SlotsAreReusedTenThousandTimes) {
  std::uint64_t key = 0;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    FakeThread thread(game_, i + 1);
    ASSERT_TRUE(thread.attached()) << i;
    ++key;
    thread.alloc(key, key, 16, 1, 0);
    now_ = ++key;
    drainer_->drain();
    drainer_->drain();
    drainer_->reap([](std::uint32_t) { return false; });
  }
  EXPECT_EQ(drainer_->thread_count(), 10000u);
  EXPECT_EQ(sink_.ended.size(), 10000u);
  EXPECT_EQ(sink_.events.size(), 10000u);
  EXPECT_EQ(sink_.tids.at(9999), 10000u);
  for (const auto& [thread, counters] : sink_.ended) {
    ASSERT_EQ(counters.allocs, 1u) << thread;
    ASSERT_EQ(counters.alloc_bytes, 16u);
  }
  EXPECT_EQ(pool_->slot(0).generation, 10000u);
}

TEST_F(DrainerTest, ALivingThreadIsNotReapedAndATwinWithItsIdEndsIt) {
  FakeThread first(game_, 42);
  first.alloc(1, 1, 1, 1, 0);
  now_ = 10;
  drainer_->drain();
  drainer_->drain();
  drainer_->reap([](std::uint32_t) { return true; });
  EXPECT_TRUE(sink_.ended.empty());
  FakeThread second(game_, 42);
  now_ = 20;
  drainer_->drain();
  drainer_->reap([](std::uint32_t) { return true; });
  EXPECT_EQ(sink_.ended.size(), 1u);
  EXPECT_TRUE(sink_.ended.contains(0));
}

TEST_F(DrainerTest, ADeadThreadIsDrainedBeforeItEnds) {
  FakeThread thread(game_, 1);
  thread.alloc(5, 1, 1, 1, 0);
  thread.alloc(500, 2, 1, 1, 0);
  now_ = 100;
  drainer_->drain();
  drainer_->drain();
  drainer_->reap([](std::uint32_t) { return false; });
  EXPECT_TRUE(sink_.ended.empty());  // one record is still held back
  now_ = 600;
  drainer_->drain();
  drainer_->drain();
  drainer_->reap([](std::uint32_t) { return false; });
  EXPECT_EQ(sink_.ended.size(), 1u);
  EXPECT_EQ(sink_.events.size(), 2u);
}

TEST_F(DrainerTest, FinishDeliversEvenTheFuture) {
  FakeThread thread(game_, 1);
  thread.alloc(1000, 1, 1, 1, 0);
  drainer_->finish();
  EXPECT_EQ(sink_.events.size(), 1u);
  EXPECT_EQ(sink_.ended.size(), 1u);
}

TEST_F(DrainerTest, UnknownKindsEndTheChunkAndAreCounted) {
  FakeThread thread(game_, 1);
  thread.alloc(1, 1, 1, 1, 0);
  thread.raw({0x2ff, 0, 0});  // no such kind
  thread.alloc(3, 2, 1, 1, 0);
  now_ = 10;
  drainer_->drain();
  EXPECT_EQ(drainer_->malformed(), 1u);
  ASSERT_GE(sink_.events.size(), 2u);
  EXPECT_EQ(sink_.events[0].kind, BufferKind::kAlloc);
  EXPECT_EQ(sink_.events.back().kind, BufferKind::kGapEnd);
  // The next chunk is read again.
  std::uint64_t key = 10;
  for (int i = 0; i < 4000; ++i, ++key) thread.alloc(key + 1, key + 1, 1, 1, 0);
  now_ = key;
  drainer_->drain();
  EXPECT_EQ(sink_.events.back().key, key);
  EXPECT_EQ(drainer_->malformed(), 1u);
}

TEST_F(DrainerTest, HugeLengthsAreMalformed) {
  FakeThread thread(game_, 1);
  // A stack that claims 255 entries, a text of 2^31 bytes, a record cut short.
  thread.raw({format::make_head(BufferKind::kStack, 1), ~std::uint64_t{0}, 0, 0, 0, 0});
  now_ = 10;
  drainer_->drain();
  FakeThread texts(game_, 2);
  texts.raw({format::make_head(BufferKind::kMessage, 1), 0, 0x80000000u});
  FakeThread cut(game_, 3);
  cut.raw({format::make_head(BufferKind::kAlloc, 1), 5});
  drainer_->drain();
  drainer_->drain();
  EXPECT_EQ(drainer_->malformed(), 3u);
  for (const Event& event : sink_.events) EXPECT_EQ(event.kind, BufferKind::kGapEnd);
}

TEST_F(DrainerTest, HeadsAndChainsThatLeadNowhereAreSurvived) {
  FakeThread thread(game_, 1);
  thread.alloc(1, 1, 1, 1, 0);
  now_ = 10;
  drainer_->drain();
  auto& published = thread.slot().published;
  published = std::uint64_t{0xffffffff} << 32 | 64;
  drainer_->drain();
  published = std::uint64_t{1} << 32 | 0xffffffff;
  drainer_->drain();
  EXPECT_EQ(sink_.events.size(), 1u);
  // A chain whose link points at itself.
  const format::ChunkId big = format::kSlotCount + 1;
  pool_->chunk_header(1).next = 1;
  pool_->chunk_header(1).closed_bytes = 0xfffffff0;
  published = std::uint64_t{big} << 32 | 64;
  drainer_->drain();
  drainer_->finish();
  EXPECT_EQ(sink_.ended.size(), 1u);
}

TEST_F(DrainerTest, GarbageInTheWholePoolIsSurvived) {
  std::mt19937_64 random(99);
  std::vector<FakeThread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) threads.emplace_back(game_, t + 1);
  now_ = ~std::uint64_t{0};
  for (int round = 0; round < 200; ++round) {
    for (FakeThread& thread : threads) {
      std::vector<std::uint64_t> words(random() % 60 + 1);
      for (std::uint64_t& word : words) word = random();
      thread.raw(words);
    }
    drainer_->drain();
  }
  drainer_->finish();
  EXPECT_GT(drainer_->malformed(), 0u);
  EXPECT_EQ(sink_.ended.size(), 4u);
}

// Real threads against the drainer: everything arrives, sorted within each thread.
TEST_F(DrainerTest, EightThreadsAtFullRateLoseNothingThatIsNotCounted) {
  constexpr std::uint64_t kEach = 40000;
  std::atomic<std::uint64_t> clock{1};
  std::atomic<int> running{8};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      FakeThread thread(game_, t + 1);
      for (std::uint64_t i = 0; i < kEach; ++i) {
        thread.alloc(clock.fetch_add(1), t << 24 | (i + 1), i % 100, 1, 1);
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) {
    now_ = clock.load();
    drainer_->drain();
  }
  for (std::thread& thread : threads) thread.join();
  drainer_->finish();
  std::map<std::uint32_t, std::uint64_t> last;
  std::map<std::uint32_t, std::uint64_t> count;
  for (const Event& event : sink_.events) {
    EXPECT_GE(event.key, last[event.thread]);
    last[event.thread] = event.key;
    if (event.kind == BufferKind::kAlloc) ++count[event.thread];
  }
  std::uint64_t lost = 0;
  for (const Loss& loss : sink_.losses) lost += loss.events;
  std::uint64_t recorded = 0;
  ASSERT_EQ(sink_.ended.size(), 8u);
  for (const auto& [thread, counters] : sink_.ended) {
    EXPECT_EQ(counters.allocs, kEach);
    recorded += count[thread];
  }
  EXPECT_EQ(recorded + lost, 8 * kEach);
}

}  // namespace
}  // namespace hitch::drain
