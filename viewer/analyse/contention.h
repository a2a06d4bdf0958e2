// Who waited for whom inside the allocator, over the run.
#pragma once
#include <cstdint>
#include <vector>

#include "viewer/model/trace.h"

namespace hitch::analyse {

struct ThreadContention {
  model::ThreadId thread;
  std::uint64_t blocked_calls = 0;  // that left the CPU of their own accord
  double blocked_ns = 0;            // off the CPU inside calls, not preempted
  double preempted_ns = 0;          // preempted inside calls
  std::uint64_t overlap_calls = 0;  // that overlapped another thread's
  double overlap_ns = 0;            // beyond what calls take that overlap none
  double allocator_ns = 0;

  double lost_ns() const { return blocked_ns + overlap_ns; }
};

// Threads that lost time, most first; empty where switches are not known.
std::vector<ThreadContention> contention_of(const model::Trace& trace);

}  // namespace hitch::analyse
