#include "recorder/frames/event_keeper.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/record_list.h"

namespace hitch::frames {
namespace {

namespace trace = format::trace;

class EventKeeperTest : public ::testing::Test {
 protected:
  std::vector<format::KeptEvent> kept() {
    std::vector<format::KeptEvent> events;
    for (const trace::Events& block : out_.all<trace::Events>()) {
      if (block.count == 0) continue;
      EXPECT_TRUE(format::decode_events(block.block, events));
    }
    return events;
  }
  static format::KeptEvent release(std::uint64_t key) {
    format::KeptEvent event;
    event.key = key;
    event.kind = format::EventKind::kFree;
    event.op = format::Op::kFree;
    return event;
  }
  support::RecordList out_;
  int named_ = 0;
  EventKeeper keeper_{out_, {1'000'000}, [this] { ++named_; }};
};

// Frames of 1000 ticks with one event in the middle of each, judged `kDelay` frames later.
class KeepHitchesTest : public EventKeeperTest {
 protected:
  static constexpr std::uint64_t kDelay = 5;
  static constexpr std::uint64_t kAround = 2;

  void play(std::uint64_t frames, const std::set<std::uint64_t>& hitches) {
    for (std::uint64_t i = 0; i < frames + kDelay; ++i) {
      if (i < frames) {
        flight_.add(release(i * 1000 + 500));
        flight_.flush();
      }
      if (i < kDelay) continue;
      trace::Frame frame;
      frame.id = i - kDelay;
      frame.begin = frame.id * 1000;
      frame.end = frame.begin + 1000;
      flight_.judged(frame, hitches.contains(frame.id));
    }
    flight_.finish();
  }
  std::vector<std::uint64_t> kept_frames() {
    std::vector<std::uint64_t> frames;
    for (const format::KeptEvent& event : kept()) frames.push_back(event.key / 1000);
    return frames;
  }
  EventKeeper flight_{out_, {1'000'000, true, kAround}, [this] { ++named_; }};
};

TEST_F(KeepHitchesTest, KeepsAHitchAndTheFramesAroundIt) {
  play(40, {20});
  EXPECT_EQ(kept_frames(), (std::vector<std::uint64_t>{18, 19, 20, 21, 22}));
}

TEST_F(KeepHitchesTest, NeighbouringHitchesShareTheirSurroundings) {
  play(40, {20, 23});
  EXPECT_EQ(kept_frames(), (std::vector<std::uint64_t>{18, 19, 20, 21, 22, 23, 24, 25}));
}

TEST_F(KeepHitchesTest, HitchesApartAreKeptApart) {
  play(40, {1, 30});
  EXPECT_EQ(kept_frames(), (std::vector<std::uint64_t>{0, 1, 2, 3, 28, 29, 30, 31, 32}));
}

TEST_F(KeepHitchesTest, TheLastFrameMayBeAHitch) {
  play(40, {39});
  EXPECT_EQ(kept_frames(), (std::vector<std::uint64_t>{37, 38, 39}));
}

TEST_F(KeepHitchesTest, WhatIsLeftOutIsCounted) {
  play(40, {20});
  std::uint64_t skipped = 0;
  std::uint64_t kept = 0;
  for (const trace::Events& block : out_.all<trace::Events>()) {
    EXPECT_EQ(block.number, skipped + block.skipped + kept);
    skipped += block.skipped;
    kept += block.count;
  }
  EXPECT_EQ(kept, 5u);
  EXPECT_EQ(skipped, 35u);
  EXPECT_EQ(flight_.overflowed(), 0u);
}

TEST_F(KeepHitchesTest, WithoutHitchesNothingIsKept) {
  play(40, {});
  EXPECT_TRUE(kept().empty());
  ASSERT_EQ(out_.all<trace::Events>().size(), 1u);
  EXPECT_EQ(out_.all<trace::Events>()[0].skipped, 40u);
}

TEST_F(KeepHitchesTest, WhatWaitsForAVerdictIsBounded) {
  // Addresses that no predictor knows: about ten bytes an event.
  std::uint64_t address = 1;
  for (std::uint64_t i = 0; i < 12'000'000; ++i) {
    address = address * 6364136223846793005u + 1442695040888963407u;
    format::KeptEvent event = release(i * 1000);
    event.address = address >> 16;
    flight_.add(event);
  }
  EXPECT_GT(flight_.overflowed(), 0u);
  flight_.finish();
  EXPECT_EQ(out_.all<trace::Events>().back().skipped, 12'000'000u);
}

TEST_F(EventKeeperTest, PausedEventsAreCountedOnly) {
  keeper_.add(release(10));
  keeper_.set_paused(true);
  keeper_.set_ticks(keeper_.add(release(20)), 5);
  keeper_.set_paused(false);
  keeper_.add(release(30));
  keeper_.finish();
  ASSERT_EQ(kept().size(), 2u);
  EXPECT_EQ(kept()[1].key / 10, 3u);
  EXPECT_EQ(out_.all<trace::Events>()[1].number, 2u);
  EXPECT_EQ(out_.all<trace::Events>()[1].skipped, 1u);
}

TEST_F(EventKeeperTest, DurationsOfReleasesMayComeLater) {
  const std::uint64_t first = keeper_.add(release(10));
  const std::uint64_t second = keeper_.add(release(20));
  keeper_.set_ticks(second, 7);
  keeper_.set_ticks(first, 5);
  keeper_.flush();
  EXPECT_EQ(kept()[0].ticks, 5u);
  EXPECT_EQ(kept()[1].ticks, 7u);
}

TEST_F(EventKeeperTest, ADurationThatComesAfterTheBlockIsNotKnown) {
  const std::uint64_t first = keeper_.add(release(10));
  keeper_.flush();
  keeper_.add(release(20));
  keeper_.set_ticks(first, 5);
  keeper_.flush();
  ASSERT_EQ(kept().size(), 2u);
  EXPECT_EQ(kept()[0].ticks, 0u);
  EXPECT_EQ(kept()[1].ticks, 0u);
  EXPECT_EQ(out_.all<trace::Events>()[1].number, 1u);
}

TEST_F(EventKeeperTest, BlocksAreWrittenWhenTheyAreFullOrOld) {
  for (std::size_t i = 0; i <= format::kMostBlockEvents; ++i) keeper_.add(release(i));
  EXPECT_EQ(out_.all<trace::Events>().size(), 1u);
  EXPECT_EQ(named_, 1);
  keeper_.tick(10'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 2u);
  keeper_.add(release(~std::uint64_t{0} >> 8));
  keeper_.tick(11'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 2u);
  keeper_.tick(12'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 3u);
  EXPECT_EQ(named_, 3);
}

}  // namespace
}  // namespace hitch::frames
