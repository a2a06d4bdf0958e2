// What a page fault takes on this machine, and how much of that is its recording: the recorder
// faults in memory of its own, with and without perf events on itself, in turns.
#pragma once
#include <cstdint>
#include <vector>

#include "format/fault_kinds.h"

namespace hitch::faults {

struct FaultPrice {
  format::FaultPriceClass price_class;
  std::uint64_t faults;  // measured without recording, and as many with
  // Nanoseconds of one fault without recording.
  double median_ns;
  double low_ns;      // first decile
  double high_ns;     // last decile
  double capture_ns;  // what recording adds to the median; 0 when perf events are not allowed
  // Of a recorded fault, what lies before the kernel's first time stamp and after its last.
  double outside_ns;
};

// Takes a few milliseconds. Classes that cannot be had here are missing.
std::vector<FaultPrice> measure_fault_prices();

}  // namespace hitch::faults
