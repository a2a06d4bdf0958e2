#include "viewer/analyse/contention.h"

#include <algorithm>
#include <map>

namespace hitch::analyse {

std::vector<ThreadContention> contention_of(const model::Trace& trace) {
  struct Sums {
    ThreadContention thread;
    std::uint64_t overlap_ticks = 0;
    std::uint64_t usual_ticks = 0;
  };
  std::map<model::ThreadId, Sums> threads;
  for (const model::FrameThread& row : trace.frame_threads) {
    Sums& sums = threads[row.thread];
    ThreadContention& thread = sums.thread;
    thread.thread = row.thread;
    thread.blocked_calls += row.blocked_calls;
    const std::uint64_t preempted = std::min(row.call_preempted_ticks, row.call_off_ticks);
    thread.blocked_ns += trace.clock.ns(row.call_off_ticks - preempted);
    thread.preempted_ns += trace.clock.ns(preempted);
    thread.overlap_calls += row.overlap_calls;
    sums.overlap_ticks += row.overlap_ticks;
    sums.usual_ticks += row.overlap_usual_ticks;
    thread.allocator_ns += trace.clock.ns(row.ticks);
  }
  std::vector<ThreadContention> found;
  for (auto& [id, sums] : threads) {
    // Over the whole run, so that what calls vary by anyhow cancels out.
    if (sums.overlap_ticks > sums.usual_ticks)
      sums.thread.overlap_ns = trace.clock.ns(sums.overlap_ticks - sums.usual_ticks);
    if (sums.thread.lost_ns() > 0) found.push_back(sums.thread);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const ThreadContention& a, const ThreadContention& b) {
                     return a.lost_ns() > b.lost_ns();
                   });
  return found;
}

}  // namespace hitch::analyse
