#include "viewer/analyse/frame_stats.h"

namespace hitch::analyse {

FrameStats frame_stats_of(const model::Trace& trace, const Measures& measures) {
  FrameStats stats;
  for (const model::Frame& frame : trace.frames) {
    const double wall = trace.clock.ns(frame.wall_ticks());
    switch (frame.kind) {
      case model::FrameKind::kPresent:
        ++stats.frames;
        stats.frames_ns += wall;
        break;
      case model::FrameKind::kWindow:
        ++stats.windows;
        stats.windows_ns += wall;
        break;
      case model::FrameKind::kUnfinished:
        ++stats.unfinished;
        stats.unfinished_ns += wall;
        break;
    }
  }
  const bool pictures = stats.frames > 0;
  const model::FrameKind counted =
      pictures ? model::FrameKind::kPresent : model::FrameKind::kWindow;
  std::vector<double> wall;
  std::vector<double> work;
  std::vector<double> allocs;
  std::vector<double> bytes;
  std::vector<double> allocator;
  double presenting_allocator = 0;
  double all_allocator = 0;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind != counted) continue;
    const model::FrameId id(i);
    const Balance balance = balance_of(trace, id, measures);
    const FrameSums sums = sums_of(trace, id);
    wall.push_back(balance.wall);
    work.push_back(balance.work);
    allocs.push_back(static_cast<double>(sums.allocs));
    bytes.push_back(static_cast<double>(sums.bytes));
    allocator.push_back(sums.allocator_ns);
    presenting_allocator += balance[Part::kAllocator];
    all_allocator += sums.allocator_ns;
  }
  stats.allocs = quantiles_of(allocs);
  stats.bytes = quantiles_of(bytes);
  stats.allocator_ns = quantiles_of(allocator);
  if (pictures) {
    stats.wall = quantiles_of(wall);
    stats.work = quantiles_of(work);
    if (stats.frames_ns > 0) {
      stats.fps = static_cast<double>(stats.frames) * 1e9 / stats.frames_ns;
      stats.allocator_share = presenting_allocator / stats.frames_ns;
    }
    stats.allocs_to_wall = correlate(allocs, wall);
    stats.allocs_to_work = correlate(allocs, work);
  } else if (stats.windows_ns > 0) {
    stats.allocator_share = all_allocator / stats.windows_ns;
  }
  return stats;
}

}  // namespace hitch::analyse
