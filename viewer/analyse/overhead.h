// What the recording itself cost, and what it lost. Nobody may mistake the tool for the game.
#pragma once
#include <cstdint>
#include <optional>

#include "viewer/analyse/balance.h"
#include "viewer/analyse/frame_stats.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct Overhead {
  // Estimated from the price list the shim measured at start.
  double own_per_frame_ns = 0;      // presenting thread, median frame
  double own_per_frame_max_ns = 0;  // and the dearest
  double own_total_ns = 0;          // all threads, whole run
  double own_share = 0;             // presenting thread's part of the frames' wall time
  double clock_price_ns = 0;        // one clock read; 0: not recorded
  double fault_price_ns = 0;
  std::optional<double> recorder_cpu_ns;  // of a run that was closed
  std::uint64_t recorder_peak_bytes = 0;
  std::uint64_t pool_peak = 0;  // chunks in use at once
  std::uint64_t pool_chunks = 0;
};

struct Totals {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t null_frees = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;  // recorded one by one
  std::uint64_t map_calls = 0;
  std::uint64_t map_bytes = 0;
  bool exact = false;  // from Counters; otherwise summed from the frames that were read
};

struct Losses {
  std::uint64_t dropped_events = 0;
  std::uint64_t nested = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t shed_stacks = 0;
  std::uint64_t frames_with_losses = 0;
  std::uint64_t frames_with_shed_stacks = 0;
  std::uint64_t frames_without_counters = 0;
  std::uint64_t late_records = 0;
  std::uint64_t malformed_chunks = 0;
};

Overhead overhead_of(const model::Trace& trace, const Measures& measures, const FrameStats& stats);
Totals totals_of(const model::Trace& trace);
Losses losses_of(const model::Trace& trace);

}  // namespace hitch::analyse
