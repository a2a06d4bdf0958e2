// How long blocks live, by hand-made events. A frame is a millisecond, a tick a nanosecond.
#include "viewer/analyse/lifetimes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>

#include "support/synthetic_trace.h"
#include "support/trace_builder.h"
#include "viewer/analyse/block_table.h"
#include "viewer/model/trace_loader.h"

namespace hitch::analyse {
namespace {

namespace trace = format::trace;
using format::EventKind;
using format::KeptEvent;
using format::ReallocOutcome;

constexpr std::uint64_t kFrame = 1'000'000;

class LifetimesTest : public ::testing::Test {
 protected:
  void alloc(std::uint64_t at, std::uint64_t address, std::uint64_t size, std::uint32_t site = 0,
             std::uint32_t thread = 0, std::uint64_t ticks = 40) {
    KeptEvent event;
    event.key = at;
    event.ticks = ticks;
    event.address = address;
    event.size = size;
    event.site = site;
    event.thread = thread;
    events_.push_back(event);
  }
  void free(std::uint64_t at, std::uint64_t address, std::uint32_t thread = 0) {
    KeptEvent event;
    event.key = at;
    event.ticks = 20;
    event.address = address;
    event.site = 2;
    event.thread = thread;
    event.kind = EventKind::kFree;
    event.op = format::Op::kFree;
    events_.push_back(event);
  }
  void realloc(std::uint64_t at, std::uint64_t old_address, std::uint64_t address,
               std::uint64_t size, ReallocOutcome outcome, std::uint32_t site = 1) {
    KeptEvent event;
    event.key = at;
    event.address = address;
    event.old_address = old_address;
    event.size = size;
    event.site = site;
    event.kind = EventKind::kRealloc;
    event.op = format::Op::kRealloc;
    event.outcome = outcome;
    events_.push_back(event);
  }
  // Ends a block of events; `skipped` further ones come before the next.
  void cut(std::uint64_t skipped = 0) {
    trace::Events record;
    record.number = number_;
    record.count = events_.size();
    record.skipped = skipped_;
    record.block = format::encode_events(events_, 0);
    blocks_.push_back(record);
    number_ += events_.size() + skipped;
    skipped_ = skipped;
    events_.clear();
  }
  Lifetimes lifetimes(std::size_t frames) {
    cut();
    support::TraceBuilder builder;
    builder.preamble(2, 3);
    support::FrameSpec spec;
    spec.wall_ms = 1;
    builder.frames(frames, spec);
    for (const trace::Events& block : blocks_) builder.add(block);
    auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
    EXPECT_TRUE(reader);
    model::Trace trace = model::load_trace(*reader);
    EXPECT_TRUE(trace.has_events);
    trace.group_of_site = groups_;
    return lifetimes_of(*reader, trace);
  }

  std::vector<model::SiteId> groups_;  // of the three sites; empty: not grouped

 private:
  std::vector<KeptEvent> events_;
  std::vector<trace::Events> blocks_;
  std::uint64_t number_ = 0;
  std::uint64_t skipped_ = 0;
};

TEST_F(LifetimesTest, CountsFramesFromBirthToDeath) {
  alloc(100, 0x1000, 10);
  alloc(200, 0x2000, 20);
  alloc(300, 0x3000, 30);
  free(400, 0x1000);
  free(kFrame + 500, 0x2000);
  free(5 * kFrame + 600, 0x3000);
  const Lifetimes lifetimes = this->lifetimes(10);
  const SiteLifetimes& site = lifetimes.sites[0];
  EXPECT_EQ(site.born, 3u);
  EXPECT_EQ(site.died, 3u);
  EXPECT_EQ(site.died_in_frame, 1u);
  EXPECT_EQ(site.temporary_bytes, 10u);
  EXPECT_EQ(site.lifetimes[0], 1u);
  EXPECT_EQ(site.lifetimes[1], 1u);
  EXPECT_EQ(site.lifetimes[3], 1u);
  EXPECT_EQ(site.peak_live, 3u);
  EXPECT_EQ(site.peak_bytes, 60u);
  EXPECT_EQ(site.live, 0u);
  EXPECT_EQ(site.least_size, 10u);
  EXPECT_EQ(site.most_size, 30u);
  EXPECT_EQ(site.alloc_ticks, 120u);
  EXPECT_EQ(site.free_ticks, 60u);
  EXPECT_TRUE(lifetimes.complete());
}

TEST(Lifetimes, BucketsDouble) {
  EXPECT_EQ(lifetime_bucket(0), 0u);
  EXPECT_EQ(lifetime_bucket(1), 1u);
  EXPECT_EQ(lifetime_bucket(2), 2u);
  EXPECT_EQ(lifetime_bucket(3), 2u);
  EXPECT_EQ(lifetime_bucket(4), 3u);
  EXPECT_EQ(lifetime_bucket(255), 8u);
  EXPECT_EQ(lifetime_bucket(256), 9u);
  EXPECT_EQ(lifetime_bucket(~std::uint64_t{0}), kLifetimeBuckets - 1);
}

TEST_F(LifetimesTest, TellsReverseOrderFromAnyOrder) {
  alloc(100, 0x1000, 8);
  alloc(110, 0x2000, 8);
  free(120, 0x2000);
  free(130, 0x1000);
  alloc(200, 0x1000, 8, 1);
  alloc(210, 0x2000, 8, 1);
  free(220, 0x1000);
  free(230, 0x2000);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.sites[0].died_last, 2u);
  EXPECT_EQ(lifetimes.sites[1].died_last, 1u);
}

TEST_F(LifetimesTest, AReleaseByAnotherThreadIsNotTemporary) {
  alloc(100, 0x1000, 8, 0, 1);
  free(200, 0x1000, 2);
  const Lifetimes lifetimes = this->lifetimes(3);
  const SiteLifetimes& site = lifetimes.sites[0];
  EXPECT_EQ(site.died_in_frame, 1u);
  EXPECT_EQ(site.died_on_thread, 0u);
  EXPECT_EQ(site.died_last, 0u);
  EXPECT_EQ(site.temporary, 0u);
}

TEST_F(LifetimesTest, ReallocsEndOneBlockAndBeginAnother) {
  alloc(100, 0x1000, 10);
  realloc(200, 0x1000, 0x2000, 20, ReallocOutcome::kMoved);
  realloc(300, 0x2000, 0x2000, 30, ReallocOutcome::kInPlace);
  realloc(400, 0x2000, 0x2000, 99, ReallocOutcome::kFailed);
  realloc(500, 0x2000, 0, 0, ReallocOutcome::kFreed);
  realloc(600, 0, 0x3000, 40, ReallocOutcome::kMoved);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.sites[0].died, 1u);
  EXPECT_EQ(lifetimes.sites[0].moved, 1u);
  EXPECT_EQ(lifetimes.sites[0].moved_bytes, 10u);
  EXPECT_EQ(lifetimes.sites[1].born, 3u);
  EXPECT_EQ(lifetimes.sites[1].died, 2u);
  EXPECT_EQ(lifetimes.sites[1].moved, 0u);
  EXPECT_EQ(lifetimes.sites[1].live_bytes, 40u);
  EXPECT_EQ(lifetimes.unknown_releases, 0u);
}

TEST_F(LifetimesTest, ContradictionsAreCounted) {
  free(100, 0x9000);
  alloc(200, 0x1000, 10);
  alloc(300, 0x1000, 20, 1);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.unknown_releases, 1u);
  EXPECT_EQ(lifetimes.implied_releases, 1u);
  EXPECT_EQ(lifetimes.sites[0].live, 0u);
  EXPECT_EQ(lifetimes.sites[0].died, 0u);
  EXPECT_EQ(lifetimes.sites[1].live, 1u);
  EXPECT_EQ(lifetimes.live_bytes, 20u);
}

TEST_F(LifetimesTest, GroupsOfSitesAddUp) {
  groups_ = {model::SiteId(1u), model::SiteId(1u), model::SiteId(2u)};
  alloc(100, 0x1000, 10, 0);
  alloc(200, 0x2000, 20, 1);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.sites[0].born, 0u);
  EXPECT_EQ(lifetimes.sites[1].peak_bytes, 30u);
}

TEST_F(LifetimesTest, ASiteThatTheTraceLacksIsInNoGroup) {
  groups_ = {model::SiteId(0u), model::SiteId(1u), model::SiteId(2u)};
  alloc(100, 0x1000, 10, 99);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.born, 0u);
  EXPECT_EQ(lifetimes.sites[0].born, 0u);
}

TEST_F(LifetimesTest, BehindAGapNothingIsKnown) {
  alloc(100, 0x1000, 10);
  cut(7);
  free(kFrame, 0x1000);
  alloc(kFrame + 100, 0x1000, 10, 1);
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.stream.skipped, 7u);
  EXPECT_EQ(lifetimes.stream.missing, 0u);
  EXPECT_FALSE(lifetimes.complete());
  EXPECT_EQ(lifetimes.lost_sight, 1u);
  EXPECT_EQ(lifetimes.unknown_releases, 1u);
  EXPECT_EQ(lifetimes.implied_releases, 0u);
  EXPECT_EQ(lifetimes.sites[0].live, 0u);
  EXPECT_EQ(lifetimes.live, 1u);
}

TEST_F(LifetimesTest, GrowthIsWhatStillRisesInTheSecondHalf) {
  constexpr std::uint64_t kFrames = 1600;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    alloc(i * kFrame + 10, 0x100000 + i * 64, 100, 0);               // leaks
    if (i < 500) alloc(i * kFrame + 20, 0x900000 + i * 64, 100, 1);  // a cache that fills
  }
  const Lifetimes lifetimes = this->lifetimes(kFrames);
  // 100 bytes a millisecond.
  EXPECT_NEAR(lifetimes.sites[0].growth_per_minute, 100.0 * 60'000, 100.0 * 600);
  EXPECT_EQ(lifetimes.sites[1].growth_per_minute, 0);
  EXPECT_EQ(lifetimes.sites[0].live, kFrames);
  EXPECT_EQ(lifetimes.sites[0].bytes_after[7], 80'000u);
  EXPECT_EQ(lifetimes.sites[1].live, 500u);
}

TEST_F(LifetimesTest, DriftComparesTheStartWithTheEnd) {
  constexpr std::uint64_t kFrames = 12'000;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    const std::uint64_t at = i * kFrame;
    alloc(at + 10, 0x1000, 8, 0, 0, i < kFrames / 2 ? 500 : 1000);
    free(at + 2000, 0x1000);
    alloc(at + 3000, 0x1000, 8, 1, 0, 500);
    free(at + 5000, 0x1000);
  }
  const Lifetimes lifetimes = this->lifetimes(kFrames);
  EXPECT_NEAR(lifetimes.drift_window_ns, 3e9, 1e6);
  ASSERT_TRUE(lifetimes.sites[0].drift);
  EXPECT_NEAR(lifetimes.sites[0].drift->ratio(), 2, 0.06);
  EXPECT_NEAR(lifetimes.sites[0].drift->first_mean_ns, 500, 1);
  EXPECT_NEAR(static_cast<double>(lifetimes.sites[0].drift->first_calls), 3000, 2);
  ASSERT_TRUE(lifetimes.sites[1].drift);
  EXPECT_NEAR(lifetimes.sites[1].drift->ratio(), 1, 0.01);
  EXPECT_FALSE(lifetimes.sites[2].drift);
}

TEST_F(LifetimesTest, AShortRecordingHasNoDrift) {
  for (std::uint64_t i = 0; i < 500; ++i) alloc(i * 1000, 0x1000 + i * 16, 8);
  const Lifetimes lifetimes = this->lifetimes(100);
  EXPECT_EQ(lifetimes.drift_window_ns, 0);
  EXPECT_FALSE(lifetimes.sites[0].drift);
}

TEST_F(LifetimesTest, LooksAtTheLayoutOfWhatIsLeft) {
  for (std::uint64_t i = 0; i < 20; ++i) alloc(100 + i, 0x100000 + i * 4096, 16, 0);
  for (std::uint64_t i = 0; i < 20; ++i) alloc(200 + i, 0x200000 + i * 16, 16, 1);
  alloc(300, 0x300000, 16, 2, 0);
  alloc(310, 0x300010, 16, 2, 1);  // the same cache line
  alloc(320, 0x300040, 16, 2, 0);  // the next one
  const Lifetimes lifetimes = this->lifetimes(3);
  EXPECT_EQ(lifetimes.sites[0].pages, 20u);
  EXPECT_EQ(lifetimes.sites[1].pages, 1u);
  EXPECT_EQ(lifetimes.shared_lines, 1u);
}

TEST(BlockTable, BehavesLikeAMap) {
  BlockTable table;
  std::map<std::uint64_t, std::uint64_t> expected;
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t address = 0x7f0000000000 + random() % 30'000 * 16;
    TrackedBlock block;
    block.address = address;
    block.size = random() % 1000;
    TrackedBlock other;
    const auto known = expected.find(address);
    if (random() % 2 == 0) {
      ASSERT_EQ(table.insert(block, other), known != expected.end());
      if (known != expected.end()) {
        ASSERT_EQ(other.size, known->second);
      }
      expected[address] = block.size;
    } else {
      ASSERT_EQ(table.erase(address, other), known != expected.end());
      if (known == expected.end()) continue;
      ASSERT_EQ(other.size, known->second);
      expected.erase(known);
    }
  }
  EXPECT_EQ(table.count(), expected.size());
  std::size_t seen = 0;
  table.for_each([&](const TrackedBlock& block) { seen += expected.count(block.address); });
  EXPECT_EQ(seen, expected.size());
}

TEST(OrderStack, ForgetsTheOldestOfVeryMany) {
  OrderStack orders;
  const std::uint32_t oldest = orders.push();
  std::vector<std::uint32_t> later;
  for (int i = 0; i < 20'000; ++i) later.push_back(orders.push());
  EXPECT_FALSE(orders.release(later[5]));
  for (std::size_t i = later.size(); i-- > later.size() - 4000;)
    EXPECT_TRUE(orders.release(later[i]));
  EXPECT_FALSE(orders.release(oldest));
}

TEST(SyntheticTrace, IsRebuiltToTheTruth) {
  const std::string path = support::write_temporary("synthetic.hitch", "");
  support::SyntheticTrace wanted;
  wanted.events = 400'000;
  wanted.live = 20'000;
  wanted.events_a_frame = 1000;
  const support::SyntheticTruth truth = support::write_synthetic_trace(path, wanted);
  auto source = load::open_file(path);
  ASSERT_TRUE(source);
  auto reader = load::TraceReader::open(*source);
  ASSERT_TRUE(reader);
  const model::Trace trace = model::load_trace(*reader);
  std::uint64_t last_done = 0;
  const Lifetimes lifetimes =
      lifetimes_of(*reader, trace, [&](std::uint64_t done, std::uint64_t all) {
        EXPECT_GT(done, last_done);
        EXPECT_LE(done, all);
        last_done = done;
      });
  std::remove(path.c_str());
  EXPECT_EQ(lifetimes.stream.events, wanted.events);
  EXPECT_TRUE(lifetimes.complete());
  EXPECT_EQ(lifetimes.born, truth.allocs);
  EXPECT_EQ(lifetimes.died, truth.frees);
  EXPECT_EQ(lifetimes.live, truth.live);
  EXPECT_EQ(lifetimes.live_bytes, truth.live_bytes);
  EXPECT_EQ(lifetimes.unknown_releases, 0u);
  EXPECT_EQ(lifetimes.implied_releases, 0u);
  std::uint64_t foreign = 0;
  std::uint64_t bytes = 0;
  for (const SiteLifetimes& site : lifetimes.sites) {
    foreign += site.died - site.died_on_thread;
    bytes += site.born_bytes;
  }
  EXPECT_EQ(foreign, truth.foreign_frees);
  EXPECT_EQ(bytes, truth.bytes);
  EXPECT_GT(last_done, 0u);
}

}  // namespace
}  // namespace hitch::analyse
