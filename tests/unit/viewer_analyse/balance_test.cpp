#include "viewer/analyse/balance.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

Balance balance_for(const FrameSpec& spec) {
  support::TraceBuilder builder;
  builder.preamble().frame(spec);
  const Report report = report_of(builder);
  return balance_of(report.trace, model::FrameId(0u), report.measures);
}

double sum(const Balance& balance) {
  return std::accumulate(balance.parts.begin(), balance.parts.end(), 0.0);
}

TEST(Balance, SplitsAFrameIntoItsParts) {
  FrameSpec spec;
  spec.wall_ms = 16;
  spec.present_ms = 2;
  spec.sleep_ms = 3;
  spec.waiting_ms = 4;
  spec.alloc_ms = 1;
  spec.minor_faults = 500;
  const Balance balance = balance_for(spec);
  EXPECT_NEAR(balance.work, 11e6, 1);
  EXPECT_NEAR(balance[Part::kPresent], 2e6, 1);
  EXPECT_NEAR(balance[Part::kSleep], 3e6, 1);
  EXPECT_NEAR(balance[Part::kWaiting], 4e6, 1);
  EXPECT_NEAR(balance[Part::kAllocator], 1e6, 1);
  EXPECT_NEAR(balance[Part::kFaults], 0.5e6, 1);
  EXPECT_NEAR(balance[Part::kRest], 5.5e6, 1);
}

TEST(Balance, NeverSumsToMoreThanTheFrame) {
  for (int i = 0; i < 200; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) * 10;
    const auto upto = [&](std::uint64_t k, double most) {
      return (support::noise(seed + k) + 1) / 2 * most;
    };
    FrameSpec spec;
    spec.wall_ms = 10;
    spec.present_ms = upto(1, 4);
    spec.sleep_ms = upto(2, 4);
    spec.waiting_ms = upto(3, 10 - spec.present_ms - spec.sleep_ms);
    spec.alloc_ms = upto(4, 20);
    spec.minor_faults = static_cast<std::uint64_t>(upto(5, 30'000));
    const Balance balance = balance_for(spec);
    EXPECT_NEAR(sum(balance), balance.wall, 1) << i;
    for (const double part : balance.parts) EXPECT_GE(part, 0) << i;
  }
}

TEST(Balance, BelievesNoSleepLongerThanTheFrame) {
  support::TraceBuilder builder;
  builder.preamble();
  format::trace::Frame frame;
  frame.thread = 1;
  frame.end = 10'000'000;
  frame.present_ticks = 8'000'000;
  frame.sleep_ticks = 50'000'000;
  frame.cpu_ns = 5;
  frame.present_cpu_ns = 500;
  builder.add(frame);
  const Report report = report_of(builder);
  const Balance balance = balance_of(report.trace, model::FrameId(0u), report.measures);
  EXPECT_NEAR(balance[Part::kSleep], 2e6, 1);
  EXPECT_NEAR(balance.work, 0, 1);
  EXPECT_NEAR(sum(balance), 10e6, 1);
}

TEST(Balance, OtherThreadsAreNotThePresentingOne) {
  support::TraceBuilder builder;
  builder.preamble();
  FrameSpec spec;
  spec.others = {{1, 7, 0.5}, {2, 3, 0.25}};
  spec.other_minor_faults = 40;
  builder.frame(spec);
  const Report report = report_of(builder);
  const OtherThreads others = other_threads_of(report.trace, model::FrameId(0u));
  EXPECT_EQ(others.allocs, 10u);
  EXPECT_NEAR(others.allocator_ns, 0.75e6, 1);
  EXPECT_EQ(others.faults, 40u);
  EXPECT_EQ(sums_of(report.trace, model::FrameId(0u)).allocs, 110u);
}

TEST(Measures, FollowTheRecordingsOptions) {
  const auto with = [](const char* level, const char* time) {
    support::TraceBuilder builder;
    builder.preamble().meta("option.level", level).meta("option.time", time);
    return report_of(builder).measures;
  };
  EXPECT_TRUE(with("trace", "all").releases_timed);
  EXPECT_TRUE(with("time", "alloc").calls_timed);
  EXPECT_FALSE(with("time", "alloc").releases_timed);
  EXPECT_FALSE(with("trace", "none").calls_timed);
  EXPECT_FALSE(with("count", "all").calls_timed);
  EXPECT_FALSE(with("count", "all").sites_known);
}

}  // namespace
}  // namespace hitch::analyse
