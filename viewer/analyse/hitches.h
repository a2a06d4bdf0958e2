// The frames that hitched, each with what took its time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/hitch_rule.h"
#include "viewer/analyse/balance.h"
#include "viewer/analyse/faults.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct Rules {
  format::HitchRule rule;
  std::optional<double> budget_ms;  // frames longer than this, instead of the rule
};

// The rule the recording was made with.
Rules recorded_rules(const model::Trace& trace);

enum class HitchKind : std::uint8_t {
  kWall,           // the picture came late
  kHiddenByVsync,  // the work grew, the wall time did not
};

// What a hitch comes down to.
enum class Verdict : std::uint8_t {
  kAllocator,
  kFaults,
  kMemory,           // allocator and faults together, neither alone
  kWaitingOnMemory,  // off the CPU while other threads allocated or faulted
  kWaitingOnFiles,   // off the CPU while reading pages from files
  kWaiting,          // off the CPU, and nothing in this trace says why
  kPreempted,        // ready to run, but others had the CPU
  kPresentBlocked,   // blocked inside present: GPU or vsync
  kPresentBusy,      // on the CPU inside present: the driver
  kSleep,            // the limiter overslept
  kNotMemory,        // computing outside the allocator
  kMixed,            // no part makes half of the excess
  kUsualSlow,        // over the budget like the frames around it
};
constexpr std::size_t kVerdicts = 13;
const char* verdict_key(Verdict verdict);  // "allocator", "page_faults", ... as in JSON

// A part that makes a fifth or more of the excess; half or more: a cause, less: partly.
struct Cause {
  Part part;
  double excess_ns = 0;
  double share = 0;  // of the explained excess
  bool partly() const { return share < 0.5; }
};

// A count that peaks in a hitch without a time that explains it.
enum class Count : std::uint8_t { kAllocs, kFaults, kMaps };
struct Coincidence {
  Count count;
  std::uint64_t value = 0;
  double usual = 0;
};

struct OtherThread {
  model::ThreadId thread;
  double allocator_ns = 0;
  std::uint64_t allocs = 0;
};

struct Hitch {
  model::FrameId frame;
  HitchKind kind = HitchKind::kWall;
  bool loading = false;
  // The excess is explained over work when work exceeds its rule, else over wall time.
  bool by_work = false;
  double excess_ns = 0;       // of what the frame is judged by, over its median around it
  double wall_excess_ns = 0;  // over the median wall time around it
  double over_budget_ns = 0;  // with a budget
  Balance balance;
  Balance usual;  // medians of the frames around it, each part for itself
  std::array<double, kParts> excess{};
  Verdict verdict = Verdict::kMixed;
  std::vector<Cause> causes;  // largest first
  std::vector<Coincidence> coincidences;
  FrameSums sums;  // all threads
  double usual_allocs = 0;
  double usual_bytes = 0;
  double usual_maps = 0;
  double usual_faults = 0;  // of the presenting thread
  double usual_involuntary = 0;
  double usual_own_ns = 0;  // cost of recording on the presenting thread
  OtherThreads others;
  double usual_others_allocator_ns = 0;
  double usual_others_faults = 0;
  FrameFaults faults;                          // whose memory; empty where owners are not seen
  std::vector<OtherThread> busiest_others;     // by time in the allocator; at most 3
  std::optional<std::size_t> slowest_outlier;  // in Trace::outliers, of any thread in this frame

  // Allocator and fault time of the other threads beyond the usual; where switches are known, only
  // what fell into the presenting thread's time off the CPU.
  double others_excess_ns(const Measures& measures) const;
};

struct Hitches {
  std::vector<Hitch> play;     // largest excess first
  std::vector<Hitch> hidden;   // by vsync; largest excess of work first
  std::vector<Hitch> loading;  // the same, apart
  double wall_limit_ms = 0;    // median of what the rule demanded over the median
  std::size_t over_budget = 0;
};

Hitches find_hitches(const model::Trace& trace, const Measures& measures, const Rules& rules);

// The frames around a hitch that it is compared with: positions in Trace::frames, the hitch left
// out. At most kHitchWindow, all of them picture frames.
std::vector<model::FrameId> frames_around(const model::Trace& trace, model::FrameId frame);

}  // namespace hitch::analyse
