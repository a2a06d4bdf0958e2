#include "viewer/analyse/loading.h"

#include <algorithm>

#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

constexpr double kLoadingFrameNs = 1e9;
constexpr double kStretchNs = 2e9;
constexpr double kLeastStretchNs = 1e9;  // at the ends of the run
constexpr double kRareShare = 0.25;
constexpr double kRarePerSecond = 10;
constexpr std::size_t kFirstFrames = 3;
constexpr std::uint64_t kFileFaultBurst = 32;
constexpr double kFileFaultSlowdown = 4;

}  // namespace

std::vector<bool> loading_frames(const model::Trace& trace) {
  std::vector<bool> loading(trace.frames.size(), false);
  std::vector<std::size_t> pictures;
  std::vector<double> wall;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind != model::FrameKind::kPresent) continue;
    pictures.push_back(i);
    wall.push_back(trace.clock.ns(trace.frames[i].wall_ticks()));
  }
  const double median = median_of(wall);
  if (median <= 0) return loading;
  std::vector<double> ends;
  ends.reserve(pictures.size());
  for (const std::size_t picture : pictures)
    ends.push_back(trace.clock.ns(trace.frames[picture].end));
  const double run_begin = ends.front() - wall.front();
  const auto presents_are_rare = [&](double from, double until) {
    from = std::max(from, run_begin);
    until = std::min(until, ends.back());
    if (until - from < kLeastStretchNs) return false;
    const auto presents = static_cast<double>(std::upper_bound(ends.begin(), ends.end(), until) -
                                              std::upper_bound(ends.begin(), ends.end(), from));
    return presents < kRareShare * (until - from) / median &&
           presents * 1e9 < kRarePerSecond * (until - from);
  };
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const double begin = ends[k] - wall[k];
    const bool rare = presents_are_rare(begin, begin + kStretchNs) ||
                      presents_are_rare(ends[k] - kStretchNs, ends[k]);
    const bool reading = trace.frames[pictures[k]].major_faults >= kFileFaultBurst &&
                         wall[k] >= kFileFaultSlowdown * median;
    loading[pictures[k]] = k < kFirstFrames || wall[k] >= kLoadingFrameNs || rare || reading;
  }
  return loading;
}

}  // namespace hitch::analyse
