#include "viewer/analyse/slow_frames.h"

#include "viewer/analyse/loading.h"
#include "viewer/analyse/patterns.h"

namespace hitch::analyse {
namespace {

constexpr double kLeastShare = 0.25;
constexpr double kMostChance = 0.001;

std::optional<double> value_of(Companion companion, const model::Trace& trace, model::FrameId id) {
  const model::Frame& frame = trace.frames[id.index()];
  switch (companion) {
    case Companion::kAllocations:
      return static_cast<double>(sums_of(trace, id).allocs);
    case Companion::kAllocatorTime:
      return sums_of(trace, id).allocator_ns;
    case Companion::kFaults:
    case Companion::kProcessFaults:
      if ((frame.flags & model::kCountersIncomplete) != 0) return std::nullopt;
      return static_cast<double>(companion == Companion::kFaults ? frame.minor_faults
                                                                 : frame.process_minor_faults);
  }
  return std::nullopt;
}

CompanionStats stats_of(Companion companion, const model::Trace& trace, const Measures& measures,
                        const std::vector<model::FrameId>& play, const std::vector<bool>& hitched) {
  std::vector<double> values;
  std::vector<double> wall;
  std::vector<double> work;
  std::vector<bool> here;
  std::vector<bool> next;  // the frame after hitched
  for (std::size_t k = 0; k < play.size(); ++k) {
    const std::optional<double> value = value_of(companion, trace, play[k]);
    if (!value) continue;
    const Balance balance = balance_of(trace, play[k], measures);
    values.push_back(*value);
    wall.push_back(balance.wall);
    work.push_back(balance.work);
    here.push_back(hitched[play[k].index()]);
    next.push_back(k + 1 < play.size() && hitched[play[k + 1].index()]);
  }
  CompanionStats stats;
  stats.frames = values.size();
  stats.wall = correlate(values, wall);
  stats.work = correlate(values, work);
  stats.same = meetings_of(values, here);
  stats.before = meetings_of(values, next);
  return stats;
}

std::optional<Finding> finding_of(const SlowFrames& slow) {
  std::optional<Finding> best;
  std::size_t most = 1;  // one meeting tells nothing
  for (const bool before : {false, true}) {
    for (std::size_t i = 0; i < kCompanions; ++i) {
      if (!slow.companions[i]) continue;
      const Meetings& met = before ? slow.companions[i]->before : slow.companions[i]->same;
      if (met.met <= most || met.probability > kMostChance ||
          static_cast<double>(met.met) < kLeastShare * static_cast<double>(met.marked)) {
        continue;
      }
      most = met.met;
      best = Finding{static_cast<Companion>(i), before};
    }
  }
  return best;
}

}  // namespace

const char* companion_key(Companion companion) {
  static constexpr const char* kKeys[kCompanions] = {"allocations", "allocator_time",
                                                     "page_faults_of_thread", "page_faults"};
  return kKeys[static_cast<std::size_t>(companion)];
}

SlowFrames slow_frames_of(const model::Trace& trace, const Measures& measures,
                          const Hitches& hitches) {
  SlowFrames result;
  const std::vector<bool> loading = loading_frames(trace);
  std::vector<model::FrameId> play;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind == model::FrameKind::kPresent && !loading[i]) play.emplace_back(i);
  }
  std::vector<bool> hitched(trace.frames.size(), false);
  for (const Hitch* hitch : hitches_of_play(hitches)) {
    hitched[hitch->frame.index()] = true;
    ++result.hitches;
  }
  result.frames = play.size();
  if (play.empty()) return result;
  for (std::size_t i = 0; i < kCompanions; ++i) {
    const auto companion = static_cast<Companion>(i);
    if (companion == Companion::kAllocatorTime && !measures.calls_timed) continue;
    result.companions[i] = stats_of(companion, trace, measures, play, hitched);
  }
  result.finding = finding_of(result);
  return result;
}

}  // namespace hitch::analyse
