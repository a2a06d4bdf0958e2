#include "viewer/analyse/windows.h"

#include <algorithm>

namespace hitch::analyse {

std::vector<WindowCost> rank_windows(const model::Trace& trace, const Measures& measures) {
  std::vector<WindowCost> windows;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    const model::Frame& frame = trace.frames[i];
    if (frame.kind != model::FrameKind::kWindow) continue;
    WindowCost cost;
    cost.frame = model::FrameId(i);
    cost.allocator_ns = sums_of(trace, cost.frame).allocator_ns;
    cost.faults = std::max(frame.process_minor_faults, frame.minor_faults);
    cost.faults_ns = static_cast<double>(cost.faults) * measures.fault_price_ns;
    windows.push_back(cost);
  }
  std::stable_sort(windows.begin(), windows.end(), [](const WindowCost& a, const WindowCost& b) {
    return a.cost_ns() > b.cost_ns();
  });
  return windows;
}

}  // namespace hitch::analyse
