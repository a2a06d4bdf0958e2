// The run's frames in numbers. Durations in nanoseconds.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "viewer/analyse/balance.h"
#include "viewer/analyse/correlation.h"
#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {

struct FrameStats {
  std::size_t frames = 0;      // present to present
  std::size_t windows = 0;     // pseudo-frames
  std::size_t unfinished = 0;  // last frame without its present
  double frames_ns = 0;        // sum of the frames' wall time
  double windows_ns = 0;
  double unfinished_ns = 0;
  double fps = 0;  // frames / frames_ns
  Quantiles wall;
  Quantiles work;
  // Of picture frames, or of windows when there is no picture frame at all. All threads.
  Quantiles allocs;
  Quantiles bytes;
  Quantiles allocator_ns;
  // Presenting thread inside the allocator, as a share of the frames' wall time; with windows
  // alone: all threads.
  double allocator_share = 0;
  std::optional<Correlation> allocs_to_wall;
  std::optional<Correlation> allocs_to_work;
};

FrameStats frame_stats_of(const model::Trace& trace, const Measures& measures);

}  // namespace hitch::analyse
