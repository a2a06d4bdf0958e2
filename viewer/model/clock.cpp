#include "viewer/model/clock.h"

#include <algorithm>
#include <cmath>

namespace hitch::model {

Clock::Clock(std::uint64_t header_hz, const std::vector<format::trace::Calibration>& pairs) {
  const bool plausible_header = header_hz >= 1'000 && header_hz <= 1'000'000'000'000;
  if (plausible_header) ns_per_tick_ = 1e9 / static_cast<double>(header_hz);
  if (pairs.empty()) return;
  const auto [first, last] = std::minmax_element(
      pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  if (last->ticks > first->ticks && last->monotonic_raw_ns > first->monotonic_raw_ns) {
    const double ns = static_cast<double>(last->monotonic_raw_ns - first->monotonic_raw_ns);
    const double slope = ns / static_cast<double>(last->ticks - first->ticks);
    if (ns >= 50e6 && (!plausible_header || std::abs(slope / ns_per_tick_ - 1) < 0.02)) {
      ns_per_tick_ = slope;
      calibrated_ = true;
    }
  }
  const double before = ns(first->ticks);
  const auto realtime = static_cast<double>(first->realtime_ns);
  realtime_origin_ns_ = before < realtime ? static_cast<std::uint64_t>(realtime - before) : 0;
}

}  // namespace hitch::model
