// Every number a report shows, text and JSON alike.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "viewer/analyse/call_sites.h"
#include "viewer/analyse/contention.h"
#include "viewer/analyse/faults.h"
#include "viewer/analyse/frame_stats.h"
#include "viewer/analyse/hitches.h"
#include "viewer/analyse/lifetimes.h"
#include "viewer/analyse/managed_heaps.h"
#include "viewer/analyse/memory_trend.h"
#include "viewer/analyse/overhead.h"
#include "viewer/analyse/patterns.h"
#include "viewer/analyse/slow_frames.h"
#include "viewer/analyse/windows.h"
#include "viewer/load/trace_reader.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct LatencyTail {
  std::uint64_t calls = 0;
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double worst_ns = 0;  // of the distribution; the slowest outlier when that is known exactly
};

struct Report {
  model::Trace trace;
  Rules rules;
  Measures measures;
  FrameStats stats;
  Hitches hitches;
  Patterns patterns;
  SlowFrames slow_frames;
  std::vector<ManagedHeap> managed_heaps;
  std::vector<WindowCost> windows;
  CallSites call_sites;
  LatencyTail latency[model::kCallKinds];  // allocations, releases, reallocs
  Overhead overhead;
  Totals totals;
  Losses losses;
  MemoryTrend memory;
  FaultTotals fault_totals;
  std::vector<FaultGroup> fault_owners;  // of the game, whole run, dearest first
  std::vector<Churn> churn;
  std::vector<ThreadContention> contention;
  std::optional<Lifetimes> lifetimes;  // when the trace has events and they were asked for
  double end_ns = 0;                   // of the last frame
  // Of the `top` hitches of each class, by frame.
  std::map<model::FrameId, std::vector<HitchSite>> hitch_sites;
  std::map<model::FrameId, std::vector<model::FrameSite>> window_sites;  // most time first
};

// How much of the trace is looked at closely: call sites of the `top` hitches of each class and of
// the `top` windows; 0: of all.
struct Depth {
  std::size_t top = 10;
  bool lifetimes = true;                // a walk through all events, when the trace has them
  load::OnProgress progress = nullptr;  // of that walk
};

// Walks the file twice. `rules` without a value: those the recording was made with.
struct RuleChoice {
  std::optional<double> budget_ms;
  std::optional<double> hitch_ms;
  std::optional<double> hitch_mad;
};
Report build_report(load::TraceReader& reader, const RuleChoice& choice, const Depth& depth);
// The same for a report whose trace was loaded, and perhaps grouped, already.
void fill_report(Report& report, load::TraceReader& reader, const RuleChoice& choice,
                 const Depth& depth);

}  // namespace hitch::analyse
