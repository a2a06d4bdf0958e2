#include "recorder/recorder/clock.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace hitch::recorder {

namespace {

constexpr int kBrackets = 9;
constexpr int kReads = 2000;
constexpr std::uint64_t kMeasureNs = 10'000'000;

std::uint64_t read_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t monotonic_ms() { return read_ns(CLOCK_MONOTONIC) / 1'000'000u; }

std::uint64_t realtime_ns() { return read_ns(CLOCK_REALTIME); }

std::uint64_t Clock::now() const {
  if (kind_ == format::ClockKind::kMonotonicRaw) return base::read_monotonic_raw();
  const std::uint64_t ticks = base::read_tsc();
  // The heads of the buffers are read after this moment, never before.
  _mm_lfence();
  return ticks;
}

format::trace::Calibration Clock::calibrate() const {
  format::trace::Calibration best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < kBrackets; ++i) {
    const std::uint64_t before = now();
    const std::uint64_t raw = base::read_monotonic_raw();
    const std::uint64_t after = now();
    const std::uint64_t real = realtime_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best.ticks = before + (after - before) / 2;
    best.monotonic_raw_ns = raw;
    best.realtime_ns = real;
  }
  return best;
}

Clock Clock::measure() {
  Clock clock;
  if (!base::tsc_is_invariant()) clock.kind_ = format::ClockKind::kMonotonicRaw;
  if (clock.kind_ == format::ClockKind::kMonotonicRaw) {
    clock.hz_ = 1'000'000'000;
  } else {
    const format::trace::Calibration first = clock.calibrate();
    const timespec pause{0, static_cast<long>(kMeasureNs)};
    nanosleep(&pause, nullptr);
    const format::trace::Calibration second = clock.calibrate();
    const auto ns = static_cast<double>(second.monotonic_raw_ns - first.monotonic_raw_ns);
    clock.hz_ = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(second.ticks - first.ticks) * 1e9 / std::max(1.0, ns)));
  }
  // As the shim reads it: without a fence.
  const auto read = [&clock] {
    return clock.kind_ == format::ClockKind::kTsc ? base::read_tsc() : base::read_monotonic_raw();
  };
  clock.pair_floor_ = ~std::uint64_t{0};
  const std::uint64_t begin = read();
  for (int i = 0; i < kReads; ++i) {
    const std::uint64_t a = read();
    const std::uint64_t b = read();
    clock.pair_floor_ = std::min(clock.pair_floor_, b - a);
  }
  clock.price_ticks_ = static_cast<double>(read() - begin) / (2.0 * kReads);
  return clock;
}

}  // namespace hitch::recorder
