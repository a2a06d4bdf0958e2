// The recorder's view of the game's clock: which one it is, how fast it runs, what reading it
// costs.
#pragma once
#include <cstdint>

#include "format/shared_memory.h"
#include "format/trace_records.h"

namespace hitch::recorder {

class Clock {
 public:
  // Measures for about 10 ms.
  static Clock measure();

  format::ClockKind kind() const { return kind_; }
  std::uint64_t hz() const { return hz_; }
  std::uint64_t now() const;
  double price_ticks() const { return price_ticks_; }       // one read, mean
  std::uint64_t pair_floor() const { return pair_floor_; }  // smallest difference of two reads

  // The tightest of several brackets of the system's clocks between two reads; ticks are absolute.
  format::trace::Calibration calibrate() const;

 private:
  format::ClockKind kind_ = format::ClockKind::kTsc;
  std::uint64_t hz_ = 0;
  double price_ticks_ = 0;
  std::uint64_t pair_floor_ = 0;
};

std::uint64_t monotonic_ms();
std::uint64_t realtime_ns();

}  // namespace hitch::recorder
