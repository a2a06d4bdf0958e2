// What rises and falls with the time of frames, and what peaks where they hitch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/analyse/balance.h"
#include "viewer/analyse/correlation.h"
#include "viewer/analyse/hitches.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

enum class Companion : std::uint8_t {
  kAllocations,    // all threads
  kAllocatorTime,  // all threads
  kFaults,         // minor faults of the presenting thread
  kProcessFaults,  // minor faults of all threads
};
constexpr std::size_t kCompanions = 4;
const char* companion_key(Companion companion);  // "allocations", ... as in JSON

struct CompanionStats {
  std::size_t frames = 0;  // of play in which it is known
  std::optional<Correlation> wall;
  std::optional<Correlation> work;
  // How many hitches are among as many frames with the highest values, or have one of those right
  // before them. Fewer than `hitches` are taken where more would share the last place.
  Meetings same;
  Meetings before;
};

// What peaks in a quarter of the hitches or more, or right before them, less than once in a
// thousand by chance; of several, what does so most often.
struct Finding {
  Companion companion = Companion::kAllocations;
  bool before = false;
};

struct SlowFrames {
  std::size_t frames = 0;   // of play
  std::size_t hitches = 0;  // in wall time or in work
  // None: not measured in this recording.
  std::array<std::optional<CompanionStats>, kCompanions> companions;
  std::optional<Finding> finding;
};

// Frames of loading are left out.
SlowFrames slow_frames_of(const model::Trace& trace, const Measures& measures,
                          const Hitches& hitches);

}  // namespace hitch::analyse
