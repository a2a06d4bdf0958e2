#include "viewer/analyse/balance.h"

#include <algorithm>

namespace hitch::analyse {

Measures measures_of(const model::Trace& trace) {
  Measures measures;
  const std::string level = trace.fact("option.level", "trace");
  const std::string time = trace.fact("option.time", "all");
  measures.sites_known = level != "count";
  measures.calls_timed = measures.sites_known && time != "none";
  measures.releases_timed = measures.calls_timed && time == "all";
  measures.fault_price_ns = std::clamp(trace.fact_number("fault.price_ns", 0), 0.0, 1e6);
  return measures;
}

Balance balance_of(const model::Trace& trace, model::FrameId id, const Measures& measures) {
  const model::Frame& frame = trace.frames[id.index()];
  const model::Clock& clock = trace.clock;
  Balance balance;
  balance.wall = clock.ns(frame.wall_ticks());
  balance[Part::kPresent] = std::min(clock.ns(frame.present_ticks), balance.wall);
  balance[Part::kSleep] =
      std::min(clock.ns(frame.sleep_ticks), balance.wall - balance[Part::kPresent]);
  balance.work = balance.wall - balance[Part::kPresent] - balance[Part::kSleep];
  double left = balance.work;
  const auto take = [&left](double wanted) {
    const double taken = std::clamp(wanted, 0.0, left);
    left -= taken;
    return taken;
  };

  std::uint64_t allocator_ticks = 0;
  for (const model::FrameThread& row : trace.threads_of(id)) {
    if (frame.thread && row.thread == *frame.thread) allocator_ticks += row.ticks;
  }
  balance[Part::kAllocator] = take(clock.ns(allocator_ticks));

  balance.counters_known =
      frame.kind != model::FrameKind::kWindow && (frame.flags & model::kCountersIncomplete) == 0;
  if (balance.counters_known) {
    balance.present_cpu = static_cast<double>(frame.present_cpu_ns);
    const double work_cpu = std::max(
        0.0, static_cast<double>(frame.cpu_ns) - static_cast<double>(frame.present_cpu_ns));
    const double off_cpu = std::max(0.0, balance.work - work_cpu);
    balance[Part::kWaiting] = take(off_cpu);
    balance.blocked_in_allocator = off_cpu - balance[Part::kWaiting];
    balance[Part::kFaults] =
        take(std::min(static_cast<double>(frame.minor_faults) * measures.fault_price_ns, work_cpu));
  }
  balance[Part::kRest] = left;
  return balance;
}

OtherThreads other_threads_of(const model::Trace& trace, model::FrameId id) {
  const model::Frame& frame = trace.frames[id.index()];
  OtherThreads others;
  std::uint64_t ticks = 0;
  for (const model::FrameThread& row : trace.threads_of(id)) {
    if (frame.thread && row.thread == *frame.thread) continue;
    ticks += row.ticks;
    others.allocs += row.allocs;
  }
  others.allocator_ns = trace.clock.ns(ticks);
  const std::uint64_t process = frame.process_minor_faults;
  others.faults = process > frame.minor_faults ? process - frame.minor_faults : 0;
  return others;
}

FrameSums sums_of(const model::Trace& trace, model::FrameId id) {
  FrameSums sums;
  std::uint64_t ticks = 0;
  for (const model::FrameThread& row : trace.threads_of(id)) {
    sums.allocs += row.allocs;
    sums.frees += row.frees;
    sums.reallocs += row.reallocs;
    sums.bytes += row.bytes;
    sums.map_calls += row.map_calls;
    ticks += row.ticks;
  }
  sums.allocator_ns = trace.clock.ns(ticks);
  return sums;
}

}  // namespace hitch::analyse
