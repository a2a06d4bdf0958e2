#include "viewer/analyse/hitches.h"

#include <algorithm>
#include <map>

#include "viewer/analyse/causes.h"
#include "viewer/analyse/loading.h"
#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

constexpr double kMs = 1e6;

bool is_picture(const model::Frame& frame) { return frame.kind == model::FrameKind::kPresent; }

template <class Value>
double median_over(const std::vector<model::FrameId>& around, Value&& value) {
  std::vector<double> values;
  values.reserve(around.size());
  for (const model::FrameId id : around) values.push_back(value(id));
  return median_of(std::move(values));
}

void compare_with_usual(Hitch& hitch, const model::Trace& trace,
                        const std::vector<Balance>& balances) {
  const std::vector<model::FrameId> around = frames_around(trace, hitch.frame);
  const auto usual = [&](auto&& value) {
    return median_over(around, [&](model::FrameId id) { return value(balances[id.index()]); });
  };
  hitch.usual.wall = usual([](const Balance& b) { return b.wall; });
  hitch.usual.work = usual([](const Balance& b) { return b.work; });
  hitch.usual.present_cpu = usual([](const Balance& b) { return b.present_cpu; });
  hitch.usual.preempted = usual([](const Balance& b) { return b.preempted; });
  hitch.usual.taken = usual([](const Balance& b) { return b.taken; });
  hitch.usual.contention = usual([](const Balance& b) { return b.contention; });
  for (std::size_t part = 0; part < kParts; ++part) {
    hitch.usual.parts[part] = usual([part](const Balance& b) { return b.parts[part]; });
  }
  hitch.usual_allocs = median_over(
      around, [&](model::FrameId id) { return static_cast<double>(sums_of(trace, id).allocs); });
  hitch.usual_bytes = median_over(
      around, [&](model::FrameId id) { return static_cast<double>(sums_of(trace, id).bytes); });
  hitch.usual_maps = median_over(
      around, [&](model::FrameId id) { return static_cast<double>(sums_of(trace, id).map_calls); });
  hitch.usual_faults = median_over(around, [&](model::FrameId id) {
    return static_cast<double>(trace.frames[id.index()].minor_faults);
  });
  hitch.usual_involuntary = median_over(around, [&](model::FrameId id) {
    return static_cast<double>(trace.frames[id.index()].involuntary);
  });
  hitch.usual_own_ns = median_over(around, [&](model::FrameId id) {
    return trace.clock.ns(trace.frames[id.index()].own_ticks);
  });
  hitch.usual_others_allocator_ns = median_over(
      around, [&](model::FrameId id) { return other_threads_of(trace, id).allocator_ns; });
  hitch.usual_others_faults = median_over(around, [&](model::FrameId id) {
    return static_cast<double>(other_threads_of(trace, id).faults);
  });
}

void name_other_threads(Hitch& hitch, const model::Trace& trace) {
  const model::Frame& frame = trace.frames[hitch.frame.index()];
  for (const model::FrameThread& row : trace.threads_of(hitch.frame)) {
    if (frame.thread && row.thread == *frame.thread) continue;
    if (row.ticks == 0 && row.allocs == 0) continue;
    hitch.busiest_others.push_back({row.thread, trace.clock.ns(row.ticks), row.allocs});
  }
  std::stable_sort(
      hitch.busiest_others.begin(), hitch.busiest_others.end(),
      [](const OtherThread& a, const OtherThread& b) { return a.allocator_ns > b.allocator_ns; });
  if (hitch.busiest_others.size() > 3) hitch.busiest_others.resize(3);
}

void rank(std::vector<Hitch>& hitches) {
  std::stable_sort(hitches.begin(), hitches.end(),
                   [](const Hitch& a, const Hitch& b) { return a.excess_ns > b.excess_ns; });
}

}  // namespace

Rules recorded_rules(const model::Trace& trace) {
  Rules rules;
  rules.rule.least_ms = trace.fact_number("option.hitch_ms", rules.rule.least_ms);
  rules.rule.mad_factor = trace.fact_number("option.hitch_mad", rules.rule.mad_factor);
  return rules;
}

double Hitch::others_excess_ns(const Measures& measures) const {
  if (measures.switches_known) {
    return others.waited_allocator_ns +
           static_cast<double>(others.waited_faults) * measures.fault_price_ns;
  }
  const double allocator = std::max(0.0, others.allocator_ns - usual_others_allocator_ns);
  const double faulted = std::max(0.0, static_cast<double>(others.faults) - usual_others_faults);
  return allocator + faulted * measures.fault_price_ns;
}

std::vector<model::FrameId> frames_around(const model::Trace& trace, model::FrameId frame) {
  // Only pictures count, so the window may span other kinds at its edges.
  std::vector<model::FrameId> before;
  std::vector<model::FrameId> after;
  constexpr std::size_t kMost = format::kHitchWindow;
  for (std::size_t i = frame.index(); i-- > 0 && before.size() < kMost;) {
    if (is_picture(trace.frames[i])) before.push_back(model::FrameId(i));
  }
  for (std::size_t i = frame.index() + 1; i < trace.frames.size() && after.size() < kMost; ++i) {
    if (is_picture(trace.frames[i])) after.push_back(model::FrameId(i));
  }
  constexpr std::size_t kHalf = kMost / 2;
  const std::size_t take_after =
      std::min(after.size(), std::max(kHalf, kMost - std::min(before.size(), kMost)));
  const std::size_t take_before = std::min(before.size(), kMost - std::min(take_after, kMost));
  std::vector<model::FrameId> around(before.begin(),
                                     before.begin() + static_cast<std::ptrdiff_t>(take_before));
  std::reverse(around.begin(), around.end());
  around.insert(around.end(), after.begin(),
                after.begin() + static_cast<std::ptrdiff_t>(take_after));
  return around;
}

Hitches find_hitches(const model::Trace& trace, const Measures& measures, const Rules& rules) {
  Hitches result;
  std::vector<Balance> balances(trace.frames.size());
  std::vector<model::FrameId> pictures;
  std::vector<double> wall_ms;
  std::vector<double> work_ms;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (!is_picture(trace.frames[i])) continue;
    const model::FrameId id(i);
    balances[i] = balance_of(trace, id, measures);
    pictures.push_back(id);
    wall_ms.push_back(balances[i].wall / kMs);
    work_ms.push_back(balances[i].work / kMs);
  }
  const auto wall_verdicts = format::judge_frames(wall_ms, rules.rule);
  const auto work_verdicts = format::judge_frames(work_ms, rules.rule);
  const std::vector<bool> loading = loading_frames(trace);
  std::map<std::uint64_t, std::size_t> slowest;  // outlier of a frame's number
  for (std::size_t i = 0; i < trace.outliers.size(); ++i) {
    const auto [found, fresh] = slowest.try_emplace(trace.outliers[i].frame, i);
    if (!fresh && trace.outliers[i].ticks > trace.outliers[found->second].ticks) found->second = i;
  }
  std::vector<double> limits;
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const format::HitchVerdict& wall = wall_verdicts[k];
    const format::HitchVerdict& work = work_verdicts[k];
    limits.push_back(std::max(rules.rule.least_ms, rules.rule.mad_factor * wall.mad));
    const bool over_budget = rules.budget_ms && wall_ms[k] > *rules.budget_ms;
    if (over_budget) ++result.over_budget;
    const bool late = rules.budget_ms ? over_budget : wall.is_hitch;
    const bool worked = rules.budget_ms ? false : work.is_hitch;
    if (!late && !worked) continue;
    Hitch hitch;
    hitch.frame = pictures[k];
    hitch.kind = late ? HitchKind::kWall : HitchKind::kHiddenByVsync;
    hitch.loading = loading[hitch.frame.index()];
    hitch.by_work = work.is_hitch;
    if (over_budget) hitch.over_budget_ns = (wall_ms[k] - *rules.budget_ms) * kMs;
    hitch.wall_excess_ns = wall.excess * kMs;
    hitch.excess_ns = (hitch.by_work ? work.excess : wall.excess) * kMs;
    hitch.balance = balances[hitch.frame.index()];
    compare_with_usual(hitch, trace, balances);
    hitch.sums = sums_of(trace, hitch.frame);
    hitch.others = other_threads_of(trace, hitch.frame);
    name_other_threads(hitch, trace);
    if (measures.owners_seen) hitch.faults = frame_faults_of(trace, measures, hitch.frame);
    const auto outlier = slowest.find(trace.frames[hitch.frame.index()].number);
    if (outlier != slowest.end()) hitch.slowest_outlier = outlier->second;
    explain(hitch, trace, measures);
    auto& list = hitch.loading                             ? result.loading
                 : hitch.kind == HitchKind::kHiddenByVsync ? result.hidden
                                                           : result.play;
    list.push_back(std::move(hitch));
  }
  result.wall_limit_ms = median_of(std::move(limits));
  rank(result.play);
  rank(result.hidden);
  rank(result.loading);
  return result;
}

}  // namespace hitch::analyse
