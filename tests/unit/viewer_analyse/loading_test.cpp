#include "viewer/analyse/loading.h"

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

TEST(Loading, ASecondWithoutAPresentIsLoading) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) { spec.wall_ms = 1800; });
  EXPECT_TRUE(report.hitches.play.empty());
  ASSERT_EQ(report.hitches.loading.size(), 1u);
  EXPECT_TRUE(report.hitches.loading[0].loading);
}

TEST(Loading, AFreezeDuringPlayIsAHitchOfPlay) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) { spec.wall_ms = 400; });
  EXPECT_EQ(report.hitches.play.size(), 1u);
  EXPECT_TRUE(report.hitches.loading.empty());
}

TEST(Loading, RarePresentsAreLoading) {
  support::TraceBuilder builder;
  builder.preamble().frames(600, lasting(10)).frames(8, lasting(700)).frames(600, lasting(10));
  const Report report = report_of(builder.finish());
  EXPECT_TRUE(report.hitches.play.empty());
  EXPECT_GE(report.hitches.loading.size(), 6u);
}

TEST(Loading, ASlowSceneAfterAFastMenuIsNotLoading) {
  support::TraceBuilder builder;
  builder.preamble().frames(4000, lasting(1)).frames(300, lasting(16));
  const Report report = report_of(builder.finish());
  EXPECT_TRUE(report.hitches.loading.empty());
}

TEST(Loading, ABurstOfFileReadsIsLoading) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms = 60;
    spec.waiting_ms = 48;
    spec.major_faults = 200;
  });
  EXPECT_TRUE(report.hitches.play.empty());
  EXPECT_EQ(report.hitches.loading.size(), 1u);
}

TEST(Loading, TheFirstFramesAreStartUp) {
  support::TraceBuilder builder;
  builder.preamble().frame(lasting(80)).frame(lasting(30)).frames(200, lasting(10));
  const Report report = report_of(builder.finish());
  EXPECT_TRUE(report.hitches.play.empty());
  EXPECT_EQ(report.hitches.loading.size(), 2u);
}

}  // namespace
}  // namespace hitch::analyse
