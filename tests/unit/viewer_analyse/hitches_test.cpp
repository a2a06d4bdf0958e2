// Which frames are hitches, and of which class.
#include "viewer/analyse/hitches.h"

#include <gtest/gtest.h>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

FrameSpec lasting(double ms) {
  FrameSpec spec;
  spec.wall_ms = ms;
  return spec;
}

TEST(Hitches, OneFrameOf13Point4Among9Point2IsExactlyOne) {
  const Report report =
      one_changed_frame(lasting(9.2), [](FrameSpec& spec) { spec.wall_ms = 13.4; });
  ASSERT_EQ(report.hitches.play.size(), 1u);
  EXPECT_EQ(report.hitches.play[0].frame, model::FrameId(150u));
  EXPECT_NEAR(report.hitches.play[0].wall_excess_ns, 4.2e6, 1e3);
  EXPECT_TRUE(report.hitches.hidden.empty());
  EXPECT_TRUE(report.hitches.loading.empty());
}

TEST(Hitches, OneFrameOf18Point6Among16Point6IsExactlyOne) {
  const Report report =
      one_changed_frame(lasting(16.6), [](FrameSpec& spec) { spec.wall_ms = 18.6; });
  EXPECT_EQ(report.hitches.play.size(), 1u);
}

TEST(Hitches, NoiseOfOneMillisecondIsNone) {
  support::TraceBuilder builder;
  builder.preamble();
  for (std::uint64_t i = 0; i < 2000; ++i) builder.frame(lasting(10 + support::noise(i)));
  const Report report = report_of(builder.finish());
  EXPECT_TRUE(report.hitches.play.empty());
  EXPECT_TRUE(report.hitches.hidden.empty());
}

TEST(Hitches, WorkThatGrowsUnderVsyncIsAClassOfItsOwn) {
  const Report report = report_of(support::sample_vsync());
  EXPECT_TRUE(report.hitches.play.empty());
  ASSERT_EQ(report.hitches.hidden.size(), 1u);
  const Hitch& hitch = report.hitches.hidden[0];
  EXPECT_EQ(hitch.kind, HitchKind::kHiddenByVsync);
  EXPECT_EQ(hitch.frame, model::FrameId(150u));
  EXPECT_NEAR(hitch.excess_ns, 4.4e6, 0.2e6);
  EXPECT_NEAR(hitch.wall_excess_ns, 0, 1e3);
}

TEST(Hitches, ALimitersSleepHidesWorkToo) {
  FrameSpec usual = lasting(16.67);
  usual.sleep_ms = 8;
  const Report report = one_changed_frame(usual, [](FrameSpec& spec) { spec.sleep_ms = 3; });
  ASSERT_EQ(report.hitches.hidden.size(), 1u);
  EXPECT_NEAR(report.hitches.hidden[0].excess_ns, 5e6, 1e3);
}

TEST(Hitches, AreRankedByExcess) {
  const Report report = report_of(support::sample_mixed());
  ASSERT_EQ(report.hitches.play.size(), 7u);
  for (std::size_t i = 1; i < report.hitches.play.size(); ++i) {
    EXPECT_GE(report.hitches.play[i - 1].excess_ns, report.hitches.play[i].excess_ns);
  }
  EXPECT_EQ(report.hitches.play[0].frame, model::FrameId(support::kMixedAllocator));
}

TEST(Hitches, TheRuleCanBeChosen) {
  const auto change = [](FrameSpec& spec) { spec.wall_ms = 13.4; };
  RuleChoice strict;
  strict.hitch_ms = 5;
  EXPECT_TRUE(one_changed_frame(lasting(9.2), change, strict).hitches.play.empty());
  RuleChoice loose;
  loose.hitch_ms = 0.1;
  EXPECT_EQ(one_changed_frame(lasting(9.2), change, loose).hitches.play.size(), 1u);
}

TEST(Hitches, TheRecordingsOwnRuleIsTheDefault) {
  support::TraceBuilder builder;
  builder.preamble().meta("option.hitch_ms", "5").meta("option.hitch_mad", "2.5");
  builder.frames(100, {});
  const Report report = report_of(builder);
  EXPECT_EQ(report.rules.rule.least_ms, 5);
  EXPECT_EQ(report.rules.rule.mad_factor, 2.5);
}

TEST(Hitches, ABudgetReplacesTheRule) {
  RuleChoice choice;
  choice.budget_ms = 16.6;
  const Report report = one_changed_frame(
      lasting(9.2), [](FrameSpec& spec) { spec.wall_ms = 13.4; }, choice);
  EXPECT_TRUE(report.hitches.play.empty());
  choice.budget_ms = 12;
  const Report over = one_changed_frame(
      lasting(9.2), [](FrameSpec& spec) { spec.wall_ms = 13.4; }, choice);
  ASSERT_EQ(over.hitches.play.size(), 1u);
  EXPECT_NEAR(over.hitches.play[0].over_budget_ns, 1.4e6, 1e3);
  EXPECT_EQ(over.hitches.over_budget, 1u);
}

TEST(Hitches, FramesThatAreAlwaysOverTheBudgetSaySo) {
  RuleChoice choice;
  choice.budget_ms = 16.6;
  const Report report = one_changed_frame(
      lasting(20), [](FrameSpec&) {}, choice);
  ASSERT_FALSE(report.hitches.play.empty());
  EXPECT_EQ(report.hitches.over_budget, 300u);
  EXPECT_EQ(report.hitches.play[0].verdict, Verdict::kUsualSlow);
}

TEST(Hitches, UnfinishedFramesAndWindowsAreNeverHitches) {
  support::TraceBuilder builder;
  builder.preamble();
  FrameSpec window = lasting(16.67);
  window.kind = 1;
  FrameSpec long_window = window;
  long_window.wall_ms = 400;
  builder.frames(20, window).frame(long_window).frames(200, lasting(10));
  FrameSpec unfinished = lasting(500);
  unfinished.kind = 2;
  builder.frame(unfinished);
  const Report report = report_of(builder.finish());
  EXPECT_TRUE(report.hitches.play.empty());
  EXPECT_TRUE(report.hitches.loading.empty());
  EXPECT_EQ(report.stats.frames, 200u);
  EXPECT_EQ(report.stats.windows, 21u);
  EXPECT_EQ(report.stats.unfinished, 1u);
  EXPECT_NEAR(report.stats.wall.max, 10e6, 1);
}

TEST(FramesAround, AreACentredWindowThatSlidesAtTheEnds) {
  support::TraceBuilder builder;
  builder.preamble().frames(300, {});
  const Report report = report_of(builder);
  for (const std::size_t frame : {0u, 10u, 150u, 299u}) {
    const auto around = frames_around(report.trace, model::FrameId(frame));
    EXPECT_EQ(around.size(), 120u) << frame;
    for (const model::FrameId id : around) EXPECT_NE(id, model::FrameId(frame));
  }
  EXPECT_EQ(frames_around(report.trace, model::FrameId(150u)).front(), model::FrameId(90u));
  EXPECT_EQ(frames_around(report.trace, model::FrameId(299u)).front(), model::FrameId(179u));
}

}  // namespace
}  // namespace hitch::analyse
