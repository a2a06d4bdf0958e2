// Where one frame's time went on the presenting thread.
//
//   wall = present + sleep + work
//   work = allocator + waiting + faults + rest
//
// Nothing is counted twice: the allocator's time is taken whole, waiting (off the CPU) and faults
// fill what it leaves, the rest is what remains. Fault time is an estimate: count x a price
// measured on the same machine.
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
  double blocked_in_allocator = 0;  // off the CPU inside allocator calls: not in waiting
  bool counters_known = true;       // false: no CPU time and faults for this frame; rest holds all

  double& operator[](Part part) { return parts[part_index(part)]; }
  double operator[](Part part) const { return parts[part_index(part)]; }
};

// What the run's options make measurable.
struct Measures {
  bool calls_timed = true;     // level time or trace, and time not none
  bool releases_timed = true;  // time all
  bool sites_known = true;     // not at level count
  double fault_price_ns = 0;
};
Measures measures_of(const model::Trace& trace);

// What the other threads did in a frame.
struct OtherThreads {
  double allocator_ns = 0;
  std::uint64_t allocs = 0;
  std::uint64_t faults = 0;  // of the process, without the presenting thread's
};

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
