// Ticks of the recording's clock -> nanoseconds.
#pragma once
#include <cstdint>
#include <vector>

#include "format/trace_records.h"

namespace hitch::model {

class Clock {
 public:
  Clock() = default;
  // The line through the first and the last Calibration when they are at least 50 ms apart and
  // within 2 % of the header's rate; otherwise the header's rate alone.
  Clock(std::uint64_t header_hz, const std::vector<format::trace::Calibration>& pairs);

  double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
  double ns_per_tick() const { return ns_per_tick_; }
  // CLOCK_REALTIME at tick 0, 0 when the trace has no Calibration.
  std::uint64_t realtime_origin_ns() const { return realtime_origin_ns_; }
  bool calibrated() const { return calibrated_; }

 private:
  double ns_per_tick_ = 1;
  std::uint64_t realtime_origin_ns_ = 0;
  bool calibrated_ = false;
};

}  // namespace hitch::model
