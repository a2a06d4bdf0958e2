#include "viewer/analyse/loading.h"

#include <algorithm>

#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

constexpr double kLoadingFrameNs = 1e9;
constexpr double kAroundNs = 1e9;  // to each side
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
  const auto end_ns = [&](std::size_t k) { return trace.clock.ns(trace.frames[pictures[k]].end); };
  std::size_t first = 0;
  std::size_t past = 0;
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const model::Frame& frame = trace.frames[pictures[k]];
    const double middle = end_ns(k) - wall[k] / 2;
    while (first < k && end_ns(first) < middle - kAroundNs) ++first;
    past = std::max(past, k + 1);
    while (past < pictures.size() && end_ns(past) <= middle + kAroundNs) ++past;
    // Near the run's ends there is less than two seconds to look at.
    const double from = std::max(middle - kAroundNs, end_ns(0) - wall[0]);
    const double until = std::min(middle + kAroundNs, end_ns(pictures.size() - 1));
    const double usual = (until - from) / median;
    const auto presents = static_cast<double>(past - first);
    const bool rare = until - from >= kAroundNs && presents < kRareShare * usual &&
                      presents * 1e9 < kRarePerSecond * (until - from);
    const bool reading =
        frame.major_faults >= kFileFaultBurst && wall[k] >= kFileFaultSlowdown * median;
    loading[pictures[k]] = k < kFirstFrames || wall[k] >= kLoadingFrameNs || rare || reading;
  }
  return loading;
}

}  // namespace hitch::analyse
