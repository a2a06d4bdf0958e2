#include "viewer/model/trace_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_traces.h"
#include "support/trace_builder.h"
#include "viewer/model/frame_sites.h"

namespace hitch::model {
namespace {

namespace trace = format::trace;
using support::FrameSpec;
using support::TraceBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;

load::TraceReader reader_of(TraceBuilder& builder) {
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  EXPECT_TRUE(reader);
  return std::move(*reader);
}

Trace load(TraceBuilder& builder) {
  load::TraceReader reader = reader_of(builder);
  return load_trace(reader);
}

TEST(TraceLoader, RowsOfTheSameKeyAddUp) {
  TraceBuilder builder;
  builder.preamble().frame({});
  trace::FrameThread late;
  late.frame = 0;
  late.thread = 0;
  late.allocs = 7;
  late.bytes = 70;
  late.free_ticks = 5;
  late.slowest_ticks = 9'000'000;
  late.slowest_site = 2;
  trace::Frame amended;
  amended.id = 0;
  amended.minor_faults = 3;
  amended.flags = 1;
  builder.add(late).add(amended);
  const Trace trace = load(builder);
  ASSERT_EQ(trace.frames.size(), 1u);
  EXPECT_EQ(trace.frames[0].minor_faults, 5u);
  EXPECT_EQ(trace.frames[0].flags, kEventsLost);
  EXPECT_EQ(trace.frames[0].thread, ThreadId(0u));
  EXPECT_DOUBLE_EQ(trace.clock.ns(trace.frames[0].wall_ticks()), 10e6) << "times are not added";
  const auto rows = trace.threads_of(FrameId(0u));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].allocs, 107u);
  EXPECT_EQ(rows[0].bytes, 6470u);
  EXPECT_EQ(rows[0].ticks, 100'005u);
  EXPECT_EQ(rows[0].slowest_ticks, 9'000'000u);
  EXPECT_EQ(rows[0].slowest_site, SiteId(1u));
}

TEST(TraceLoader, PictureFramesAreNumberedWithoutTheWindowsBeforeThem) {
  TraceBuilder builder;
  builder.preamble();
  for (std::uint64_t id = 0; id < 5; ++id) {
    trace::Frame frame;
    frame.id = id;
    frame.kind = id < 3 ? 1 : 0;
    frame.begin = id * 1000;
    frame.end = id * 1000 + 1000;
    builder.add(frame);
  }
  const Trace trace = load(builder);
  ASSERT_EQ(trace.frames.size(), 5u);
  EXPECT_EQ(trace.frames[3].number, 3u);
  EXPECT_EQ(trace.frames[3].picture, 0u);
  EXPECT_EQ(trace.frames[4].picture, 1u);
}

TEST(TraceLoader, RowsMayComeBeforeTheirFrame) {
  TraceBuilder builder;
  trace::FrameThread row;
  row.frame = 5;
  row.thread = 2;
  row.allocs = 11;
  trace::Frame frame;
  frame.id = 5;
  frame.end = 100;
  builder.add(row).add(frame);
  const Trace trace = load(builder);
  const auto id = trace.find_frame(5);
  ASSERT_TRUE(id);
  ASSERT_EQ(trace.threads_of(*id).size(), 1u);
  EXPECT_EQ(trace.threads_of(*id)[0].allocs, 11u);
}

TEST(TraceLoader, EachFrameFindsItsThreads) {
  TraceBuilder builder;
  builder.preamble();
  FrameSpec with_workers;
  with_workers.others = {{2, 5, 0.1}, {1, 4, 0.1}};
  builder.frame({}).frame(with_workers).frame({});
  const Trace trace = load(builder);
  EXPECT_EQ(trace.threads_of(FrameId(0u)).size(), 1u);
  const auto rows = trace.threads_of(FrameId(1u));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].thread, ThreadId(1u));
  EXPECT_EQ(rows[2].allocs, 5u);
  EXPECT_EQ(trace.threads_of(FrameId(2u)).size(), 1u);
}

TEST(TraceLoader, SumsCallSitesAndCountsTheirFrames) {
  TraceBuilder builder = support::sample_mixed();
  const Trace trace = load(builder);
  ASSERT_EQ(trace.site_totals.size(), 3u);
  EXPECT_EQ(trace.site_totals[1].allocs, 900u * 80 + 900);
  EXPECT_EQ(trace.site_totals[1].frames, 900u);
  EXPECT_EQ(trace.site_totals[0].frames, 1u);
}

TEST(TraceLoader, NumbersOutOfReachAreLeftOutWithAWarning) {
  TraceBuilder builder;
  builder.add(trace::Site{~std::uint64_t{0}, 1, 1, 0, 0});
  builder.add(trace::Module{1'000'000'000, 0, "m", "", 0, 0, 0, {}});
  builder.add(trace::FrameSite{0, 0, ~std::uint64_t{0} - 1, 1, 0, 0, 0, 0, 0});
  trace::FrameThread orphan;
  orphan.frame = 77;
  builder.add(orphan);
  const Trace trace = load(builder);
  EXPECT_TRUE(trace.sites.empty());
  EXPECT_TRUE(trace.modules.empty());
  EXPECT_THAT(trace.warnings, Contains(HasSubstr("4 records")));
}

TEST(TraceLoader, IdsThatNameNothingLoseTheirName) {
  TraceBuilder builder;
  builder.add(trace::Site{0, 0x1000, 99, 0, 77});
  trace::Outlier outlier;
  outlier.site = 55;
  outlier.stack = 12;
  builder.add(outlier).frame({});
  const Trace trace = load(builder);
  EXPECT_FALSE(trace.sites[0].module);
  EXPECT_FALSE(trace.sites[0].stack);
  EXPECT_FALSE(trace.outliers[0].site);
  EXPECT_FALSE(trace.outliers[0].stack);
}

TEST(TraceLoader, LimitsRows) {
  TraceBuilder builder;
  builder.preamble().frames(50, {});
  load::TraceReader reader = reader_of(builder);
  const Trace trace = load_trace(reader, {20});
  EXPECT_EQ(trace.frames.size(), 20u);
  EXPECT_FALSE(trace.warnings.empty());
}

TEST(TraceLoader, LaterHistogramsReplaceEarlierOnes) {
  TraceBuilder builder;
  builder.add(trace::Histogram{2, 0, 0, {5, 10}});
  builder.add(trace::Histogram{2, 0, 0, {5, 30}});
  builder.add(trace::Histogram{0, 1, 1, {6, 4}});
  const Trace trace = load(builder);
  EXPECT_EQ(trace.all_latencies.by_kind[0].calls(), 30u);
  EXPECT_EQ(trace.all_latencies.by_kind[1].calls(), 4u) << "summed over threads when scope 2 lacks";
}

TEST(TraceLoader, TwoHundredThousandFramesAreFine) {
  TraceBuilder builder;
  builder.preamble();
  FrameSpec spec;
  spec.sites = {{0, 10, 100, 0.01}};
  builder.frames(200'000, spec);
  const Trace trace = load(builder);
  EXPECT_EQ(trace.frames.size(), 200'000u);
  EXPECT_EQ(trace.site_totals[0].allocs, 2'000'000u);
}

TEST(FrameSites, HoldsTheWantedFramesAlone) {
  TraceBuilder builder = support::sample_mixed();
  load::TraceReader reader = reader_of(builder);
  const Trace trace = load_trace(reader);
  std::vector<bool> wanted(trace.frames.size(), false);
  wanted[support::kMixedFaults] = true;
  const FrameSites rows = load_frame_sites(reader, trace, wanted);
  const auto sites = rows.of(FrameId(support::kMixedFaults));
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[0].site, SiteId(0u));
  EXPECT_EQ(sites[0].bytes, 32u << 20);
  EXPECT_EQ(sites[1].presenting_ticks, sites[1].ticks);
  EXPECT_TRUE(rows.of(FrameId(1u)).empty());
}

TEST(FrameSites, AddsTheThreadsOfOneSite) {
  TraceBuilder builder;
  builder.preamble();
  FrameSpec spec;
  spec.sites = {{1, 10, 100, 0.01, 0}, {1, 5, 50, 0.02, 2}};
  builder.frame(spec);
  load::TraceReader reader = reader_of(builder);
  const Trace trace = load_trace(reader);
  const FrameSites rows = load_frame_sites(reader, trace, {true});
  const auto sites = rows.of(FrameId(0u));
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].allocs, 15u);
  EXPECT_EQ(sites[0].ticks, 30'000u);
  EXPECT_EQ(sites[0].presenting_ticks, 10'000u);
}

}  // namespace
}  // namespace hitch::model
