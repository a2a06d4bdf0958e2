#include "viewer/analyse/patterns.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "viewer/analyse/periods.h"
#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

constexpr double kDominates = 0.5;
constexpr double kSameHitch = 3;  // frames
constexpr double kShorter = 0.75;
constexpr double kLeastRise = 1.5;
constexpr double kRiseDeviations = 2.6;  // one in two hundred by chance

double begin_ns(const model::Trace& trace, model::FrameId id) {
  return trace.clock.ns(trace.frames[id.index()].begin);
}

// Code that ran before the recording did, in frames that were given up or in events that were lost
// looks new, too.
bool knows_first_runs(const model::Trace& trace, model::FrameId until) {
  if (trace.given_up.frames > 0 || !trace.recording.empty()) return false;
  if (trace.fact_number("option.start_frame", 0) > 0) return false;
  return std::none_of(
      trace.frames.begin(), trace.frames.begin() + static_cast<std::ptrdiff_t>(until.index()),
      [](const model::Frame& frame) { return (frame.flags & model::kEventsLost) != 0; });
}

bool is_first_run(const model::Trace& trace, model::FrameId frame,
                  const std::map<model::FrameId, ExplainingSite>& sites) {
  const auto found = sites.find(frame);
  return found != sites.end() && found->second.share >= kDominates &&
         found->second.first_frame == trace.frames[frame.index()].number &&
         knows_first_runs(trace, frame);
}

std::vector<double> differences(const std::vector<double>& moments,
                                const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  std::vector<double> result;
  result.reserve(pairs.size());
  for (const auto& [from, to] : pairs) result.push_back(moments[to] - moments[from]);
  return result;
}

// The tighter of two periods, or the shorter when one is a multiple of the other.
bool tells_more(const Period& a, const Period& b, const std::vector<double>& moments) {
  const double a_length = period_of(differences(moments, a.pairs)).length;
  const double b_length = period_of(differences(moments, b.pairs)).length;
  if (a_length < kShorter * b_length) return true;
  if (b_length < kShorter * a_length) return false;
  return a.spread < b.spread;
}

// Which of a group's hitches keep its rhythm is marked in `members`.
std::optional<Rhythm> find_rhythm(const model::Trace& trace, const HitchGroup& group,
                                  double usual_wall_ns, std::vector<bool>& members) {
  std::vector<double> frames;
  std::vector<double> begins;
  for (const model::FrameId id : group.frames) {
    frames.push_back(static_cast<double>(trace.frames[id.index()].picture));
    begins.push_back(begin_ns(trace, id));
  }
  std::optional<Period> best = find_period(frames, 1);
  const std::optional<Period> by_time = find_period(begins, usual_wall_ns);
  if (by_time && (!best || tells_more(*by_time, *best, begins))) best = by_time;
  if (!best) return std::nullopt;
  const Period in_frames = period_of(differences(frames, best->pairs));
  const Period in_ns = period_of(differences(begins, best->pairs));
  members.assign(group.frames.size(), false);
  for (const auto& [from, to] : best->pairs) members[from] = members[to] = true;
  const auto times = static_cast<std::size_t>(std::count(members.begin(), members.end(), true));
  // A frame right behind one that keeps the rhythm is the same hitch.
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i - 1] && frames[i] - frames[i - 1] < kSameHitch) members[i] = true;
  }
  return Rhythm{in_frames.length, in_frames.spread, in_ns.length, in_ns.spread, times};
}

using GroupKey = std::tuple<Verdict, bool, model::SiteId>;

}  // namespace

const char* pattern_key(PatternKind kind) {
  static constexpr const char* kKeys[] = {"periodic", "first_time", "rising", "irregular",
                                          "single"};
  return kKeys[static_cast<std::size_t>(kind)];
}

std::vector<const Hitch*> hitches_of_play(const Hitches& hitches) {
  std::vector<const Hitch*> list;
  for (const auto* of : {&hitches.play, &hitches.hidden}) {
    for (const Hitch& hitch : *of) list.push_back(&hitch);
  }
  std::sort(list.begin(), list.end(),
            [](const Hitch* a, const Hitch* b) { return a->frame < b->frame; });
  return list;
}

std::optional<Rise> find_rise(const std::vector<double>& excess_ns) {
  const std::size_t count = excess_ns.size();
  if (count < 3) return std::nullopt;
  double score = 0;  // Mann and Kendall's: pairs that grow less pairs that shrink
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      score += excess_ns[j] > excess_ns[i] ? 1 : excess_ns[j] < excess_ns[i] ? -1 : 0;
    }
  }
  const auto n = static_cast<double>(count);
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  if (score - 1 < kRiseDeviations * deviation) return std::nullopt;
  const auto third = static_cast<std::ptrdiff_t>(count / 3);
  const Rise rise{median_of({excess_ns.begin(), excess_ns.begin() + third}),
                  median_of({excess_ns.end() - third, excess_ns.end()})};
  if (rise.last_ns < kLeastRise * rise.first_ns) return std::nullopt;
  return rise;
}

Patterns find_patterns(const model::Trace& trace, const std::vector<const Hitch*>& hitches,
                       const std::map<model::FrameId, ExplainingSite>& sites) {
  std::map<GroupKey, std::vector<const Hitch*>> alike;
  std::vector<double> usual;
  for (const Hitch* hitch : hitches) {
    if (hitch->verdict == Verdict::kUsualSlow) continue;
    const auto site = sites.find(hitch->frame);
    const bool known = site != sites.end();
    alike[{hitch->verdict, known, known ? site->second.site : model::SiteId()}].push_back(hitch);
    usual.push_back(hitch->usual.wall);
  }
  const double usual_wall_ns = median_of(std::move(usual));
  struct Found {
    HitchGroup group;
    std::vector<bool> periodic;  // of each frame
  };
  std::vector<Found> found;
  for (auto& [key, members] : alike) {
    Found one;
    HitchGroup& group = one.group;
    group.verdict = std::get<0>(key);
    if (std::get<1>(key)) group.site = std::get<2>(key);
    std::sort(members.begin(), members.end(),
              [](const Hitch* a, const Hitch* b) { return a->frame < b->frame; });
    std::vector<double> excess;
    std::vector<double> gaps;
    for (const Hitch* hitch : members) {
      if (!group.frames.empty())
        gaps.push_back(begin_ns(trace, hitch->frame) - begin_ns(trace, group.frames.back()));
      group.frames.push_back(hitch->frame);
      group.excess_ns += hitch->excess_ns;
      excess.push_back(hitch->excess_ns);
    }
    group.median_excess_ns = median_of(excess);
    group.median_gap_ns = median_of(std::move(gaps));
    group.rhythm = find_rhythm(trace, group, usual_wall_ns, one.periodic);
    group.rise = find_rise(excess);
    group.kind = group.rhythm                                  ? PatternKind::kPeriodic
                 : group.rise                                  ? PatternKind::kRising
                 : group.frames.size() > 1                     ? PatternKind::kIrregular
                 : is_first_run(trace, group.frames[0], sites) ? PatternKind::kFirstTime
                                                               : PatternKind::kSingle;
    found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.group.excess_ns > b.group.excess_ns;
  });
  Patterns result;
  for (Found& one : found) {
    for (std::size_t i = 0; i < one.group.frames.size(); ++i) {
      const model::FrameId frame = one.group.frames[i];
      PatternKind kind = one.group.kind;
      const bool stranger = kind == PatternKind::kPeriodic && !one.periodic[i];
      if (stranger) kind = PatternKind::kIrregular;
      if (kind == PatternKind::kIrregular && is_first_run(trace, frame, sites))
        kind = PatternKind::kFirstTime;
      result.of_hitch[frame] = {kind, result.groups.size()};
    }
    result.groups.push_back(std::move(one.group));
  }
  return result;
}

}  // namespace hitch::analyse
