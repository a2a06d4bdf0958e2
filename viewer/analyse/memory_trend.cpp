#include "viewer/analyse/memory_trend.h"

#include <algorithm>
#include <span>

namespace hitch::analyse {
namespace {

using format::trace::MemorySample;

constexpr double kShortestTrendNs = 10e9;

// Slope of a least-squares line, in bytes a minute.
double slope(const model::Trace& trace, std::span<const MemorySample> samples,
             std::uint64_t MemorySample::*field) {
  const std::uint64_t origin = samples.front().time;
  const auto count = static_cast<double>(samples.size());
  double sum_x = 0;
  double sum_y = 0;
  for (const MemorySample& sample : samples) {
    sum_x += trace.clock.ns(sample.time - origin) / 60e9;
    sum_y += static_cast<double>(sample.*field);
  }
  double above = 0;
  double below = 0;
  for (const MemorySample& sample : samples) {
    const double x = trace.clock.ns(sample.time - origin) / 60e9 - sum_x / count;
    above += x * (static_cast<double>(sample.*field) - sum_y / count);
    below += x * x;
  }
  return below > 0 ? above / below : 0;
}

}  // namespace

MemoryTrend memory_trend_of(const model::Trace& trace) {
  MemoryTrend trend;
  // Times in a damaged file may be in no order.
  std::vector<MemorySample> samples = trace.memory;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const MemorySample& a, const MemorySample& b) { return a.time < b.time; });
  trend.samples = samples.size();
  for (const format::trace::HeapSample& sample : trace.heap_samples)
    trend.worst_gap = std::max(trend.worst_gap, sample.largest_gap);
  if (!trace.heap_samples.empty()) trend.heap = trace.heap_samples.back();
  if (samples.empty()) return trend;
  trend.first_resident = samples.front().resident;
  trend.last_resident = samples.back().resident;
  trend.last_private = samples.back().private_resident;
  trend.last_live_bytes = samples.back().live_bytes;
  for (const MemorySample& sample : samples) {
    trend.peak_resident = std::max(trend.peak_resident, sample.resident);
    trend.peak_live_bytes = std::max(trend.peak_live_bytes, sample.live_bytes);
  }
  trend.seconds = trace.clock.ns(samples.back().time - samples.front().time) / 1e9;
  const std::span<const MemorySample> half =
      std::span<const MemorySample>(samples).subspan(samples.size() / 2);
  if (trace.clock.ns(half.back().time - half.front().time) >= kShortestTrendNs) {
    trend.resident_growth = slope(trace, half, &MemorySample::resident);
    trend.live_growth = slope(trace, half, &MemorySample::live_bytes);
  }
  return trend;
}

}  // namespace hitch::analyse
