#include "viewer/analyse/balance.h"

#include <algorithm>

#include "viewer/analyse/fault_price.h"

namespace hitch::analyse {
Measures measures_of(const model::Trace& trace) {
  Measures measures;
  const std::string level = trace.fact("option.level", "trace");
  const std::string time = trace.fact("option.time", "all");
  measures.sites_known = level != "count";
  measures.calls_timed = measures.sites_known && time != "none";
  measures.releases_timed = measures.calls_timed && time == "all";
  const std::string source = trace.fact("faults.source", "getrusage");
  measures.faults_seen = source == "perf_event";
  measures.owners_seen = measures.faults_seen || source == "pagemap";
  measures.switches_known = measures.faults_seen;
  constexpr double kMostNs = 1e6;
  const FaultPrice price = fault_price(trace, format::FaultPriceClass::kAnonymous);
  if (measures.faults_seen) measures.fault_capture_ns = price.capture_ns;
  measures.price_in_game = price.is_of_the_game();
  measures.fault_price_ns = std::clamp(
      price.best_ns(measures.faults_seen).value_or(trace.fact_number("fault.price_ns", 0)), 0.0,
      kMostNs);
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

  model::FrameThread own;
  for (const model::FrameThread& row : trace.threads_of(id)) {
    if (frame.thread && row.thread == *frame.thread) own = row;
  }
  balance[Part::kAllocator] = take(clock.ns(own.ticks));
  const double allocator = balance[Part::kAllocator];
  const auto inside = [allocator](double ns) { return std::clamp(ns, 0.0, allocator); };
  balance.faults_in_allocator =
      inside(static_cast<double>(own.call_faults) * measures.fault_price_ns);
  if (own.overlap_ticks > own.overlap_usual_ticks)
    balance.contention = inside(clock.ns(own.overlap_ticks - own.overlap_usual_ticks));

  balance.counters_known =
      frame.kind != model::FrameKind::kWindow && (frame.flags & model::kCountersIncomplete) == 0;
  if (balance.counters_known) {
    balance.present_cpu = static_cast<double>(frame.present_cpu_ns);
    const double work_cpu = std::max(
        0.0, static_cast<double>(frame.cpu_ns) - static_cast<double>(frame.present_cpu_ns));
    double off_cpu = std::max(0.0, balance.work - work_cpu);
    if (measures.switches_known) {
      balance.blocked_in_allocator = inside(clock.ns(own.call_off_ticks));
      balance.preempted_in_allocator =
          std::min(clock.ns(own.call_preempted_ticks), balance.blocked_in_allocator);
      off_cpu = std::max(0.0, off_cpu - balance.blocked_in_allocator);
    }
    balance[Part::kWaiting] = take(off_cpu);
    if (measures.switches_known) {
      // Those of the limiter's sleep are few: a thread that sleeps is not ready to run.
      const std::uint64_t elsewhere = frame.present_preempted_ticks + own.call_preempted_ticks;
      const std::uint64_t preempted =
          own.preempted_ticks - std::min(own.preempted_ticks, elsewhere);
      balance.preempted = std::min(clock.ns(preempted), balance[Part::kWaiting]);
      balance.taken = std::min(clock.ns(own.taken_ticks), balance.preempted);
    } else {
      balance.blocked_in_allocator = off_cpu - balance[Part::kWaiting];
    }
    // Those that were not seen one by one were taken inside system calls.
    const std::uint64_t in_calls = std::min(own.call_faults, frame.minor_faults);
    const double outside = static_cast<double>(frame.minor_faults - in_calls);
    balance[Part::kFaults] = take(std::min(outside * measures.fault_price_ns, work_cpu));
  }
  balance[Part::kRest] = left;
  return balance;
}

ThreadBalance thread_balance_of(const model::Trace& trace, const model::FrameThread& row,
                                const Measures& measures) {
  const model::Clock& clock = trace.clock;
  ThreadBalance balance;
  balance.thread = row.thread;
  balance.wall = clock.ns(trace.frames[row.frame.index()].wall_ticks());
  double left = balance.wall;
  const auto take = [&left](double wanted) {
    const double taken = std::clamp(wanted, 0.0, left);
    left -= taken;
    return taken;
  };
  balance.allocator = take(clock.ns(row.ticks));
  balance.blocked_in_allocator = std::min(clock.ns(row.call_off_ticks), balance.allocator);
  balance.faults_in_allocator =
      std::min(static_cast<double>(row.call_faults) * measures.fault_price_ns, balance.allocator);
  const std::uint64_t off = row.off_ticks - std::min(row.off_ticks, row.call_off_ticks);
  balance.off_cpu = take(clock.ns(off));
  const std::uint64_t preempted =
      row.preempted_ticks - std::min(row.preempted_ticks, row.call_preempted_ticks);
  balance.preempted = std::min(clock.ns(preempted), balance.off_cpu);
  balance.faults = take(static_cast<double>(row.faults - std::min(row.faults, row.call_faults)) *
                        measures.fault_price_ns);
  balance.rest = left;
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
    others.waited_allocator_ns += trace.clock.ns(row.waited_ticks);
    others.waited_faults += row.waited_faults;
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
