#include "viewer/analyse/report.h"

#include <algorithm>

#include "viewer/model/trace_loader.h"

namespace hitch::analyse {
namespace {

std::size_t at_most(std::size_t count, std::size_t top) {
  return top == 0 ? count : std::min(count, top);
}

// Which kind of call an Op is, as Latencies number them; kCallKinds for none.
std::size_t call_kind(std::uint8_t op) {
  constexpr std::uint8_t kFirstRelease = 7;
  constexpr std::uint8_t kLastRelease = 9;
  constexpr std::uint8_t kRealloc = 2;
  if (op == kRealloc) return 2;
  if (op < kFirstRelease) return 0;
  return op <= kLastRelease ? 1 : model::kCallKinds;
}

void fill_latencies(Report& report) {
  const model::Trace& trace = report.trace;
  double slowest[model::kCallKinds] = {};
  for (const model::Outlier& outlier : trace.outliers) {
    const std::size_t kind = call_kind(outlier.op);
    if (kind < model::kCallKinds) {
      slowest[kind] = std::max(slowest[kind], trace.clock.ns(outlier.ticks));
    }
  }
  for (std::size_t kind = 0; kind < model::kCallKinds; ++kind) {
    const model::Histogram& histogram = trace.all_latencies.by_kind[kind];
    const auto at = [&](double share) {
      return histogram.quantile(share) * trace.clock.ns_per_tick();
    };
    LatencyTail& tail = report.latency[kind];
    tail = {histogram.calls(), at(0.5), at(0.95), at(0.99), at(0.999), at(1)};
    // The bucket of the worst call is up to 3 % wide; the outlier itself is exact.
    if (slowest[kind] > tail.worst_ns * 0.95) tail.worst_ns = slowest[kind];
  }
}

void load_sites(Report& report, load::TraceReader& reader, std::size_t top) {
  const model::Trace& trace = report.trace;
  std::vector<bool> wanted(trace.frames.size(), false);
  const std::vector<Hitch>* lists[] = {&report.hitches.play, &report.hitches.hidden,
                                       &report.hitches.loading};
  for (const auto* list : lists) {
    for (std::size_t i = 0; i < at_most(list->size(), top); ++i) {
      want_frames_around((*list)[i], trace, wanted);
    }
  }
  const std::size_t windows = at_most(report.windows.size(), top);
  for (std::size_t i = 0; i < windows; ++i) wanted[report.windows[i].frame.index()] = true;
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;
  const model::FrameSites rows = model::load_frame_sites(reader, trace, wanted);
  for (const auto* list : lists) {
    for (std::size_t i = 0; i < at_most(list->size(), top); ++i) {
      report.hitch_sites[(*list)[i].frame] = sites_of((*list)[i], trace, rows);
    }
  }
  for (std::size_t i = 0; i < windows; ++i) {
    const auto of = rows.of(report.windows[i].frame);
    std::vector<model::FrameSite> sites(of.begin(), of.end());
    std::stable_sort(sites.begin(), sites.end(),
                     [](const model::FrameSite& a, const model::FrameSite& b) {
                       return a.ticks != b.ticks ? a.ticks > b.ticks : a.calls() > b.calls();
                     });
    report.window_sites[report.windows[i].frame] = std::move(sites);
  }
}

}  // namespace

Report build_report(load::TraceReader& reader, const RuleChoice& choice, const Depth& depth) {
  Report report;
  report.trace = model::load_trace(reader);
  fill_report(report, reader, choice, depth);
  return report;
}

void fill_report(Report& report, load::TraceReader& reader, const RuleChoice& choice,
                 const Depth& depth) {
  const model::Trace& trace = report.trace;
  report.rules = recorded_rules(trace);
  report.rules.budget_ms = choice.budget_ms;
  if (choice.hitch_ms) report.rules.rule.least_ms = *choice.hitch_ms;
  if (choice.hitch_mad) report.rules.rule.mad_factor = *choice.hitch_mad;
  report.measures = measures_of(trace);
  report.stats = frame_stats_of(trace, report.measures);
  report.hitches = find_hitches(trace, report.measures, report.rules);
  report.slow_frames = slow_frames_of(trace, report.measures, report.hitches);
  report.managed_heaps = managed_heaps_of(trace);
  // Windows before the first present are start-up; they are ranked only when there is nothing else.
  if (report.stats.frames == 0) report.windows = rank_windows(trace, report.measures);
  report.call_sites = call_sites_of(trace, report.measures);
  report.overhead = overhead_of(trace, report.measures, report.stats);
  report.totals = totals_of(trace);
  report.losses = losses_of(trace);
  report.memory = memory_trend_of(trace);
  report.fault_totals = fault_totals_of(trace);
  report.fault_owners = fault_groups(
      trace, report.measures, trace.faults,
      [](const model::FrameFault& row) { return row.owner != format::FaultOwner::kShim; });
  report.churn = churn_of(trace, report.measures);
  report.contention = contention_of(trace);
  if (trace.has_events && depth.lifetimes) {
    report.lifetimes = lifetimes_of(reader, trace, depth.progress);
    report.trace.warnings.insert(report.trace.warnings.end(),
                                 report.lifetimes->stream.warnings.begin(),
                                 report.lifetimes->stream.warnings.end());
  }
  fill_latencies(report);
  if (!trace.frames.empty()) report.end_ns = trace.clock.ns(trace.frames.back().end);
  load_sites(report, reader, depth.top);
  const std::vector<const Hitch*> play = hitches_of_play(report.hitches);
  report.patterns =
      find_patterns(trace, play, explaining_sites(reader, trace, play, report.measures));
}

}  // namespace hitch::analyse
