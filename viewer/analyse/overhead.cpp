#include "viewer/analyse/overhead.h"

#include <algorithm>
#include <vector>

namespace hitch::analyse {

Overhead overhead_of(const model::Trace& trace, const Measures& measures, const FrameStats& stats) {
  Overhead overhead;
  std::vector<double> per_frame;
  double presenting = 0;
  std::uint64_t rows = 0;
  std::uint64_t frames = 0;
  for (const model::Frame& frame : trace.frames) {
    frames += frame.own_ticks;
    overhead.pool_peak = std::max(overhead.pool_peak, frame.pool_chunks);
    if (frame.kind != model::FrameKind::kPresent) continue;
    per_frame.push_back(trace.clock.ns(frame.own_ticks));
    presenting += per_frame.back();
  }
  for (const model::FrameThread& row : trace.frame_threads) rows += row.own_ticks;
  const Quantiles quantiles = quantiles_of(std::move(per_frame));
  overhead.own_per_frame_ns = quantiles.p50;
  overhead.own_per_frame_max_ns = quantiles.max;
  overhead.own_total_ns = trace.clock.ns(std::max(rows, frames));
  if (stats.frames_ns > 0) overhead.own_share = presenting / stats.frames_ns;
  overhead.clock_price_ns = trace.fact_number("clock.price_ticks", 0) * trace.clock.ns_per_tick();
  overhead.fault_price_ns = measures.fault_price_ns;
  if (trace.end) {
    overhead.recorder_cpu_ns = static_cast<double>(trace.end->recorder_cpu_ns);
    overhead.recorder_peak_bytes = trace.end->recorder_peak_bytes;
    overhead.pool_peak = std::max(overhead.pool_peak, trace.end->pool_chunks_peak);
    overhead.pool_chunks = trace.end->pool_chunks;
  }
  return overhead;
}

Totals totals_of(const model::Trace& trace) {
  Totals totals;
  for (const auto& [thread, counters] : trace.counters) {
    totals.allocs += counters.allocs;
    totals.frees += counters.frees;
    totals.reallocs += counters.reallocs;
    totals.null_frees += counters.null_frees;
    totals.bytes += counters.alloc_bytes + counters.realloc_bytes;
    totals.events += counters.recorded;
    totals.map_calls += counters.map_calls;
    totals.map_bytes += counters.map_bytes;
    totals.exact = true;
  }
  // Without End, threads that were alive at the end have no Counters yet.
  if (totals.exact && trace.end) return totals;
  totals = Totals{};
  for (const model::FrameThread& row : trace.frame_threads) {
    totals.allocs += row.allocs;
    totals.frees += row.frees;
    totals.reallocs += row.reallocs;
    totals.bytes += row.bytes;
    totals.map_calls += row.map_calls;
    totals.map_bytes += row.map_bytes;
  }
  totals.events = totals.allocs + totals.frees + totals.reallocs;
  return totals;
}

Losses losses_of(const model::Trace& trace) {
  Losses losses;
  for (const auto& [thread, counters] : trace.counters) {
    losses.dropped_events += counters.dropped;
    losses.nested += counters.nested;
    losses.abandoned += counters.abandoned;
    losses.shed_stacks += counters.shed_stacks;
  }
  std::uint64_t in_gaps = 0;
  for (const format::trace::Gap& gap : trace.gaps) in_gaps += gap.events;
  losses.dropped_events = std::max(losses.dropped_events, in_gaps);
  for (const model::Frame& frame : trace.frames) {
    if ((frame.flags & model::kEventsLost) != 0) ++losses.frames_with_losses;
    if ((frame.flags & model::kStacksShed) != 0) ++losses.frames_with_shed_stacks;
    if ((frame.flags & model::kCountersIncomplete) != 0) ++losses.frames_without_counters;
  }
  losses.late_records = trace.repair.late;
  losses.malformed_chunks = trace.repair.malformed;
  return losses;
}

}  // namespace hitch::analyse
