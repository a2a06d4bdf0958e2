// What goes with slow frames is found, what does not is not accused.
#include "viewer/analyse/slow_frames.h"

#include <gtest/gtest.h>

#include <functional>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

// 600 frames whose counts waver; every 50th from the 25th on hitches.
SlowFrames session(const std::function<void(std::uint64_t, bool, FrameSpec&)>& change,
                   const RuleChoice& choice = {}) {
  support::TraceBuilder builder;
  builder.preamble();
  for (std::uint64_t i = 0; i < 600; ++i) {
    FrameSpec spec;
    spec.allocs = 1000 + static_cast<std::uint64_t>(100 * (support::noise(i) + 1));
    spec.minor_faults = 50 + static_cast<std::uint64_t>(40 * (support::noise(i + 7000) + 1));
    const bool hitch = i % 50 == 25;
    if (hitch) spec.wall_ms += 6;
    change(i, hitch, spec);
    builder.frame(spec);
  }
  return report_of(builder.finish(), choice).slow_frames;
}

const CompanionStats& of(const SlowFrames& slow, Companion companion) {
  return *slow.companions[static_cast<std::size_t>(companion)];
}

TEST(SlowFrames, AllocationsInTheHitchesAreFoundThere) {
  const SlowFrames slow = session([](std::uint64_t, bool hitch, FrameSpec& spec) {
    if (hitch) spec.allocs += 3000;
  });
  EXPECT_EQ(slow.hitches, 12u);
  EXPECT_EQ(slow.frames, 597u) << "the first three are loading";
  const CompanionStats& allocations = of(slow, Companion::kAllocations);
  EXPECT_EQ(allocations.same.met, 12u);
  EXPECT_NEAR(allocations.same.expected, 144.0 / 597, 0.05);
  EXPECT_LT(allocations.same.probability, 1e-9);
  EXPECT_GT(allocations.wall->pearson, 0.9);
  EXPECT_LE(allocations.before.met, 1u);
  ASSERT_TRUE(slow.finding);
  EXPECT_EQ(slow.finding->companion, Companion::kAllocations);
  EXPECT_FALSE(slow.finding->before);
  EXPECT_GT(of(slow, Companion::kFaults).same.probability, 0.001);
}

TEST(SlowFrames, FaultsInTheFrameBeforeAreFoundThere) {
  const SlowFrames slow = session([](std::uint64_t i, bool, FrameSpec& spec) {
    if (i % 50 == 24) spec.other_minor_faults = 4000;
  });
  EXPECT_EQ(of(slow, Companion::kProcessFaults).before.met, 12u);
  EXPECT_EQ(of(slow, Companion::kProcessFaults).same.met, 0u);
  ASSERT_TRUE(slow.finding);
  EXPECT_EQ(slow.finding->companion, Companion::kProcessFaults);
  EXPECT_TRUE(slow.finding->before);
  EXPECT_GT(of(slow, Companion::kFaults).before.probability, 0.001);
}

TEST(SlowFrames, NothingIsAccusedOfHitchesThatCompute) {
  const SlowFrames slow = session([](std::uint64_t, bool, FrameSpec&) {});
  EXPECT_FALSE(slow.finding);
  for (const auto& companion : slow.companions) {
    ASSERT_TRUE(companion);
    EXPECT_GT(companion->same.probability, 0.001);
    EXPECT_GT(companion->before.probability, 0.001);
  }
}

TEST(SlowFrames, WhatWasNotMeasuredIsMissing) {
  support::TraceBuilder builder;
  builder.preamble().meta("option.level", "count").frames(50, {});
  const SlowFrames untimed = report_of(builder.finish()).slow_frames;
  EXPECT_FALSE(untimed.companions[static_cast<std::size_t>(Companion::kAllocatorTime)]);
  EXPECT_TRUE(untimed.companions[static_cast<std::size_t>(Companion::kAllocations)]);
  const SlowFrames partly = session([](std::uint64_t i, bool, FrameSpec& spec) {
    if (i >= 300) spec.flags = model::kCountersIncomplete;
  });
  EXPECT_EQ(of(partly, Companion::kFaults).frames, 297u);
  EXPECT_EQ(of(partly, Companion::kAllocations).frames, 597u);
}

TEST(SlowFrames, WindowsHaveNone) {
  const SlowFrames slow = report_of(support::sample_windows()).slow_frames;
  EXPECT_EQ(slow.frames, 0u);
  EXPECT_FALSE(slow.companions[0]);
}

}  // namespace
}  // namespace hitch::analyse
