#include "viewer/analyse/memory_trend.h"

#include <gtest/gtest.h>

namespace hitch::analyse {
namespace {

using format::trace::HeapSample;
using format::trace::MemorySample;

constexpr std::uint64_t kSecond = 1'000'000'000;

model::Trace trace_of(std::uint64_t seconds, std::uint64_t growth_a_second) {
  model::Trace trace;
  trace.clock = model::Clock(kSecond, {});
  for (std::uint64_t i = 0; i <= seconds * 10; ++i) {
    MemorySample sample;
    sample.time = i * kSecond / 10;
    sample.resident = 1'000'000 + growth_a_second * i / 10;
    sample.private_resident = 500'000;
    sample.live_bytes = 100'000;
    trace.memory.push_back(sample);
  }
  return trace;
}

TEST(MemoryTrend, WithoutSamplesThereIsNone) {
  const MemoryTrend trend = memory_trend_of(model::Trace());
  EXPECT_EQ(trend.samples, 0u);
  EXPECT_FALSE(trend.heap);
}

TEST(MemoryTrend, GrowthIsALineThroughTheSecondHalf) {
  const MemoryTrend trend = memory_trend_of(trace_of(60, 1000));
  EXPECT_EQ(trend.samples, 601u);
  EXPECT_NEAR(trend.resident_growth, 60'000, 60);
  EXPECT_NEAR(trend.live_growth, 0, 1e-6);
  EXPECT_EQ(trend.first_resident, 1'000'000u);
  EXPECT_EQ(trend.last_resident, 1'060'000u);
  EXPECT_EQ(trend.peak_resident, 1'060'000u);
  EXPECT_NEAR(trend.seconds, 60, 1e-9);
}

TEST(MemoryTrend, AShortRecordingHasNoTrend) {
  EXPECT_EQ(memory_trend_of(trace_of(10, 1000)).resident_growth, 0);
}

TEST(MemoryTrend, HeapIsTheLastSampleAndTheWorstHoleOfAll) {
  model::Trace trace;
  HeapSample sample;
  sample.mapped = 1000;
  sample.live_bytes = 250;
  sample.largest_gap = 700;
  trace.heap_samples.push_back(sample);
  sample.largest_gap = 100;
  trace.heap_samples.push_back(sample);
  const MemoryTrend trend = memory_trend_of(trace);
  ASSERT_TRUE(trend.heap);
  EXPECT_EQ(trend.heap->largest_gap, 100u);
  EXPECT_EQ(trend.worst_gap, 700u);
  EXPECT_DOUBLE_EQ(trend.filled(), 0.25);
}

TEST(MemoryTrend, SamplesInNoOrderDoNoHarm) {
  model::Trace trace = trace_of(60, 1000);
  std::swap(trace.memory.front(), trace.memory.back());
  EXPECT_NEAR(memory_trend_of(trace).resident_growth, 60'000, 60);
}

}  // namespace
}  // namespace hitch::analyse
