#include "viewer/analyse/report.h"

#include <gtest/gtest.h>

#include "analyse_fixture.h"
#include "format/buffer_records.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

TEST(Report, FrameNumbersAreThoseOfTheTrace) {
  const Report report = report_of(support::sample_mixed());
  EXPECT_EQ(report.stats.frames, 900u);
  EXPECT_NEAR(report.stats.fps, 900e9 / report.stats.frames_ns, 1e-9);
  EXPECT_NEAR(report.stats.allocs.p50, 190, 0);
  EXPECT_NEAR(report.stats.allocs.max, 4190, 0);
  ASSERT_TRUE(report.stats.allocs_to_wall);
  EXPECT_GT(report.stats.allocs_to_wall->pearson, 0.4);
}

TEST(Report, TheAllocatorsShareIsThePresentingThreads) {
  support::TraceBuilder builder;
  builder.preamble();
  FrameSpec spec;
  spec.alloc_ms = 1;
  spec.others = {{1, 5, 9}};
  builder.frames(20, spec);
  const Report report = report_of(builder);
  EXPECT_NEAR(report.stats.allocator_share, 0.1, 1e-9);
}

TEST(Report, WindowsAloneAreRankedByAllocatorAndFaultTime) {
  const Report report = report_of(support::sample_windows());
  EXPECT_EQ(report.stats.frames, 0u);
  EXPECT_EQ(report.stats.fps, 0);
  EXPECT_EQ(report.stats.wall.max, 0) << "a window has no frame time";
  EXPECT_TRUE(report.hitches.play.empty());
  ASSERT_EQ(report.windows.size(), 120u);
  EXPECT_EQ(report.windows[0].frame, model::FrameId(60u));
  EXPECT_NEAR(report.windows[0].faults_ns, 0.3e6, 1);
  ASSERT_FALSE(report.window_sites.at(model::FrameId(60u)).empty());
  EXPECT_EQ(report.window_sites.at(model::FrameId(60u))[0].site, model::SiteId(1u));
}

TEST(Report, AnEmptyTraceIsNoError) {
  const Report report = report_of(support::sample_empty());
  EXPECT_TRUE(report.trace.frames.empty());
  EXPECT_EQ(report.stats.frames, 0u);
  EXPECT_TRUE(report.call_sites.ranked.empty());
}

TEST(Report, LossesAreCountedAndSumsStayExact) {
  const Report report = report_of(support::sample_gaps());
  EXPECT_EQ(report.losses.dropped_events, 15'000u);
  EXPECT_EQ(report.losses.frames_with_losses, 3u);
  EXPECT_EQ(report.losses.frames_with_shed_stacks, 3u);
  EXPECT_EQ(report.losses.shed_stacks, 12u);
  EXPECT_TRUE(report.totals.exact);
  EXPECT_EQ(report.totals.allocs, 20'000u + 23'000u);
}

TEST(Report, WithoutCountersTotalsComeFromTheFrames) {
  support::TraceBuilder builder;
  builder.preamble().frames(10, {});
  const Report report = report_of(builder);
  EXPECT_FALSE(report.totals.exact);
  EXPECT_EQ(report.totals.allocs, 1000u);
}

TEST(Report, TheToolsOwnCostIsShown) {
  const Report report = report_of(support::sample_mixed());
  EXPECT_NEAR(report.overhead.own_per_frame_ns, 10'000, 1);
  EXPECT_NEAR(report.overhead.own_total_ns, 9e6, 1e3);
  EXPECT_NEAR(report.overhead.clock_price_ns, 12, 0.01);
  ASSERT_TRUE(report.overhead.recorder_cpu_ns);
  EXPECT_EQ(report.overhead.pool_peak, 12u);
}

TEST(Report, TheWorstLatencyIsTheExactOutlier) {
  support::TraceBuilder builder;
  builder.preamble().frame({});
  format::trace::Outlier outlier;
  outlier.op = static_cast<std::uint64_t>(format::Op::kNew);
  outlier.ticks = 1'020'304;
  builder.add(outlier);
  builder.add(format::trace::Histogram{2, 0, 0, {10, 99, 500, 1}});
  const Report report = report_of(builder);
  EXPECT_EQ(report.latency[0].calls, 100u);
  EXPECT_EQ(report.latency[0].p50_ns, 10);
  EXPECT_DOUBLE_EQ(report.latency[0].worst_ns, 1'020'304);
}

TEST(Report, CallSitesAreReadForTheTopHitchesOnly) {
  support::TraceBuilder builder = support::sample_mixed();
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  ASSERT_TRUE(reader);
  const Report report = build_report(*reader, {}, {2});
  EXPECT_EQ(report.hitch_sites.size(), 2u);
  EXPECT_EQ(report.hitches.play.size(), 7u);
}

}  // namespace
}  // namespace hitch::analyse
