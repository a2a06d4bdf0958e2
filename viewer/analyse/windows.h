// Pseudo-frames: fixed windows used while no present is seen. They have no frame time and never
// hitch; they are ranked by what the allocator and page faults took.
#pragma once
#include <vector>

#include "viewer/analyse/balance.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct WindowCost {
  model::FrameId frame;
  double allocator_ns = 0;   // all threads
  std::uint64_t faults = 0;  // of the process
  double faults_ns = 0;      // estimate
  double cost_ns() const { return allocator_ns + faults_ns; }
};

// Dearest first.
std::vector<WindowCost> rank_windows(const model::Trace& trace, const Measures& measures);

}  // namespace hitch::analyse
