#include "viewer/analyse/causes.h"

#include <algorithm>

namespace hitch::analyse {
namespace {

constexpr double kNamed = 0.2;
constexpr double kMain = 0.5;
// A count peaks when it is three times its usual value and not a handful more.
constexpr double kPeakFactor = 3;
constexpr double kPeakAllocs = 100;
constexpr double kPeakFaults = 64;
constexpr double kPeakMaps = 4;

// Moves time that was counted twice inside allocator calls from waiting and faults, see causes.h.
void take_off_overlap(Hitch& hitch) {
  const auto excess = [&](Part part) {
    return std::max(0.0, hitch.balance[part] - hitch.usual[part]);
  };
  const double allocator = excess(Part::kAllocator);
  const double whole = hitch.balance.work - hitch.usual.work;
  double surplus =
      std::min(allocator + excess(Part::kWaiting) + excess(Part::kFaults) - whole, allocator);
  const auto move_to_rest = [&](Part part) {
    const double moved = std::clamp(surplus, 0.0, excess(part));
    hitch.balance[part] -= moved;
    hitch.balance[Part::kRest] += moved;
    surplus -= moved;
    return moved;
  };
  // The larger of the two is the likelier one to have happened inside the calls.
  if (excess(Part::kFaults) > excess(Part::kWaiting)) move_to_rest(Part::kFaults);
  hitch.balance.blocked_in_allocator += move_to_rest(Part::kWaiting);
  move_to_rest(Part::kFaults);
}

void add_coincidences(Hitch& hitch, const model::Frame& frame) {
  const auto named = [&](Part part) {
    return std::any_of(hitch.causes.begin(), hitch.causes.end(),
                       [part](const Cause& cause) { return cause.part == part; });
  };
  const auto peaks = [](double value, double usual, double least) {
    return value >= kPeakFactor * usual && value >= usual + least;
  };
  if (!named(Part::kAllocator) &&
      peaks(static_cast<double>(hitch.sums.allocs), hitch.usual_allocs, kPeakAllocs)) {
    hitch.coincidences.push_back({Count::kAllocs, hitch.sums.allocs, hitch.usual_allocs});
  }
  if (!named(Part::kFaults) &&
      peaks(static_cast<double>(frame.minor_faults), hitch.usual_faults, kPeakFaults)) {
    hitch.coincidences.push_back({Count::kFaults, frame.minor_faults, hitch.usual_faults});
  }
  if (!named(Part::kAllocator) &&
      peaks(static_cast<double>(hitch.sums.map_calls), hitch.usual_maps, kPeakMaps)) {
    hitch.coincidences.push_back({Count::kMaps, hitch.sums.map_calls, hitch.usual_maps});
  }
}

Verdict waiting_verdict(const Hitch& hitch, const model::Frame& frame, const Measures& measures) {
  const double waited = hitch.excess[part_index(Part::kWaiting)];
  if (hitch.others_excess_ns(measures) >= kNamed * waited) return Verdict::kWaitingOnMemory;
  if (frame.major_faults > 0) return Verdict::kWaitingOnFiles;
  if (measures.switches_known) {
    // By its own threads: it would have waited for them to get done anyhow, or has too many.
    const double foreign = (hitch.balance.preempted - hitch.balance.taken) -
                           (hitch.usual.preempted - hitch.usual.taken);
    return foreign >= kMain * waited ? Verdict::kPreempted : Verdict::kWaiting;
  }
  // More than usual: a frame that is preempted now and then is not therefore late.
  if (static_cast<double>(frame.involuntary) - hitch.usual_involuntary >
      static_cast<double>(frame.voluntary)) {
    return Verdict::kPreempted;
  }
  return Verdict::kWaiting;
}

Verdict verdict_of(const Hitch& hitch, const model::Frame& frame, const Measures& measures) {
  const auto share = [&](Part part) {
    for (const Cause& cause : hitch.causes) {
      if (cause.part == part) return cause.share;
    }
    return 0.0;
  };
  if (hitch.excess_ns <= 0 || hitch.excess_ns < kNamed * hitch.over_budget_ns) {
    return Verdict::kUsualSlow;
  }
  if (!hitch.causes.empty() && !hitch.causes.front().partly()) {
    switch (hitch.causes.front().part) {
      case Part::kAllocator:
        return Verdict::kAllocator;
      case Part::kFaults:
        return Verdict::kFaults;
      case Part::kWaiting:
        return waiting_verdict(hitch, frame, measures);
      case Part::kRest:
        return Verdict::kNotMemory;
      case Part::kSleep:
        return Verdict::kSleep;
      case Part::kPresent: {
        const double blocked = hitch.balance[Part::kPresent] - hitch.balance.present_cpu;
        return blocked * 2 >= hitch.balance[Part::kPresent] ? Verdict::kPresentBlocked
                                                            : Verdict::kPresentBusy;
      }
    }
  }
  if (share(Part::kAllocator) + share(Part::kFaults) >= kMain) return Verdict::kMemory;
  return Verdict::kMixed;
}

}  // namespace

const char* verdict_key(Verdict verdict) {
  static constexpr const char* kKeys[kVerdicts] = {
      "allocator", "page_faults",  "memory", "waiting_on_memory", "waiting_on_files", "waiting",
      "preempted", "gpu_or_vsync", "driver", "limiter_sleep",     "not_memory",       "mixed",
      "usual_slow"};
  return kKeys[static_cast<std::size_t>(verdict)];
}

void explain(Hitch& hitch, const model::Trace& trace, const Measures& measures) {
  const model::Frame& frame = trace.frames[hitch.frame.index()];
  if (!measures.switches_known) take_off_overlap(hitch);
  for (std::size_t part = 0; part < kParts; ++part) {
    hitch.excess[part] = hitch.balance.parts[part] - hitch.usual.parts[part];
  }
  // What recording those calls took is the tool's time, not the game's: shares are measured without
  // it.
  const double own = std::clamp(trace.clock.ns(frame.own_ticks) - hitch.usual_own_ns, 0.0,
                                std::max(0.0, hitch.excess[part_index(Part::kRest)]));
  const double whole = hitch.excess_ns - own;
  for (std::size_t part = 0; part < kParts; ++part) {
    const bool of_work = part != part_index(Part::kPresent) && part != part_index(Part::kSleep);
    if (hitch.by_work && !of_work) continue;
    const double excess = hitch.excess[part] - (part == part_index(Part::kRest) ? own : 0.0);
    if (whole <= 0 || excess < kNamed * whole) continue;
    hitch.causes.push_back({static_cast<Part>(part), excess, std::min(1.0, excess / whole)});
  }
  std::stable_sort(hitch.causes.begin(), hitch.causes.end(),
                   [](const Cause& a, const Cause& b) { return a.excess_ns > b.excess_ns; });
  add_coincidences(hitch, frame);
  hitch.verdict = verdict_of(hitch, frame, measures);
}

}  // namespace hitch::analyse
