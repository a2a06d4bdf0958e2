// How hitches are spread over the session: at a period, at the first run of some code, ever larger,
// or none of these.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "viewer/analyse/explaining_sites.h"
#include "viewer/analyse/hitches.h"

namespace hitch::analyse {

enum class PatternKind : std::uint8_t {
  kPeriodic,
  kFirstTime,  // half of the excess is of a call site that no earlier frame has
  kRising,     // the excess grows over the session
  kIrregular,  // others are like it, at no regular interval
  kSingle,     // no other is like it
};
const char* pattern_key(PatternKind kind);  // "periodic", "first_time", ... as in JSON

// The same intervals in both units; a spread is the share of the period that nine in ten deviate by
// at most.
struct Rhythm {
  double frames = 0;
  double frames_spread = 0;
  double ns = 0;
  double ns_spread = 0;
  std::size_t times = 0;  // hitches that keep it

  bool by_frames() const { return frames_spread <= ns_spread; }  // the tighter unit
  double spread() const { return by_frames() ? frames_spread : ns_spread; }
};

// Medians of the first and of the last third.
struct Rise {
  double first_ns = 0;
  double last_ns = 0;
};

// Hitches with the same verdict and the same explaining call site, or with the same verdict and
// none.
struct HitchGroup {
  Verdict verdict = Verdict::kMixed;
  std::optional<model::SiteId> site;
  std::vector<model::FrameId> frames;  // in order of time
  PatternKind kind = PatternKind::kSingle;
  double excess_ns = 0;         // sum
  double median_excess_ns = 0;  // of one
  double median_gap_ns = 0;     // from begin to begin; 0 of a single one
  std::optional<Rhythm> rhythm;
  std::optional<Rise> rise;  // may be there beside a rhythm
};

struct Pattern {
  PatternKind kind = PatternKind::kSingle;
  std::size_t group = 0;  // in Patterns::groups
};

struct Patterns {
  std::vector<HitchGroup> groups;  // largest sum of excess first
  // By frame. Frames that are over a budget as usual have none.
  std::map<model::FrameId, Pattern> of_hitch;
};

Patterns find_patterns(const model::Trace& trace, const std::vector<const Hitch*>& hitches,
                       const std::map<model::FrameId, ExplainingSite>& sites);

// Hitches of play, those hidden by vsync among them: what patterns are looked for in. Loading has
// none.
std::vector<const Hitch*> hitches_of_play(const Hitches& hitches);

// Whether the excess grows from each to the next more often than chance lets it, and by half.
std::optional<Rise> find_rise(const std::vector<double>& excess_ns);

}  // namespace hitch::analyse
