// Where one frame's time went on the presenting thread.
//
//   wall = present + sleep + work
//   work = allocator + waiting + faults + rest
//
// Nothing is counted twice: the allocator's time is taken whole, with the page faults and the
// switches inside its calls; waiting (off the CPU outside of calls) and faults outside of calls
// fill what it leaves, the rest is what remains. Fault time is an estimate: count x a price
// measured in the same run. Where the kernel told every fault and switch
// (Measures::switches_known), what lies inside calls is known; else it is not, and causes.h takes
// off what was counted twice.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "viewer/model/trace.h"

namespace hitch::analyse {

enum class Part : std::uint8_t { kAllocator, kFaults, kWaiting, kRest, kPresent, kSleep };
constexpr std::size_t kParts = 6;
constexpr std::size_t part_index(Part part) { return static_cast<std::size_t>(part); }

// All in nanoseconds.
struct Balance {
  double wall = 0;
  double work = 0;
  std::array<double, kParts> parts{};
  double present_cpu = 0;
  double blocked_in_allocator = 0;    // off the CPU inside allocator calls: not in waiting
  double preempted_in_allocator = 0;  // of blocked_in_allocator, where switches are known
  double preempted = 0;               // of waiting: ready to run, but others had the CPU
  double taken = 0;                   // of preempted: those others were threads of the game
  double faults_in_allocator = 0;     // of the allocator's time, estimated
  double contention = 0;  // of the allocator's time: what calls took longer beside other threads'
  bool counters_known = true;  // false: no CPU time and faults for this frame; rest holds all

  double& operator[](Part part) { return parts[part_index(part)]; }
  double operator[](Part part) const { return parts[part_index(part)]; }
};

// What the run's options make measurable.
struct Measures {
  bool calls_timed = true;      // level time or trace, and time not none
  bool releases_timed = true;   // time all
  bool sites_known = true;      // not at level count
  bool faults_seen = false;     // one by one, each with its owner
  bool owners_seen = false;     // of some faults at least: the pages of large blocks
  bool switches_known = false;  // when each thread was off the CPU
  double fault_price_ns = 0;    // of a fresh page
  double fault_capture_ns = 0;  // of that, what recording the fault adds
  bool price_in_game = false;   // measured on the game's own faults
};
Measures measures_of(const model::Trace& trace);

// What the other threads did in a frame.
struct OtherThreads {
  double allocator_ns = 0;
  std::uint64_t allocs = 0;
  std::uint64_t faults = 0;  // of the process, without the presenting thread's
  // While the presenting thread was off the CPU; known with Measures::switches_known.
  double waited_allocator_ns = 0;
  std::uint64_t waited_faults = 0;
};

// Of any one thread; zero off-CPU time where switches are not known.
struct ThreadBalance {
  model::ThreadId thread;
  double wall = 0;
  double off_cpu = 0;
  double preempted = 0;  // of off_cpu
  double allocator = 0;
  double faults = 0;  // outside of allocator calls, estimated
  double rest = 0;
  double faults_in_allocator = 0;   // of allocator
  double blocked_in_allocator = 0;  // of allocator
};
ThreadBalance thread_balance_of(const model::Trace& trace, const model::FrameThread& row,
                                const Measures& measures);

Balance balance_of(const model::Trace& trace, model::FrameId frame, const Measures& measures);
OtherThreads other_threads_of(const model::Trace& trace, model::FrameId frame);

// All threads together.
struct FrameSums {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t map_calls = 0;
  double allocator_ns = 0;
};
FrameSums sums_of(const model::Trace& trace, model::FrameId frame);

}  // namespace hitch::analyse
