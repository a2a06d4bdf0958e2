// Small synthetic recordings whose truth is known: what the golden files hold and what report tests
// read.
#pragma once
#include "support/trace_builder.h"

namespace hitch::support {

// Deterministic noise in [-1, 1].
double noise(std::uint64_t index);

// 900 frames at about 10 ms with one hitch of each kind, named by its frame:
//   100 allocator   200 page faults   300 waiting for a worker that faults   400 not memory
//   500 allocator, blocked on a lock  600 waiting, nothing known             700 GPU
TraceBuilder sample_mixed();
constexpr std::uint64_t kMixedAllocator = 100;
constexpr std::uint64_t kMixedFaults = 200;
constexpr std::uint64_t kMixedWorker = 300;
constexpr std::uint64_t kMixedNotMemory = 400;
constexpr std::uint64_t kMixedLock = 500;
constexpr std::uint64_t kMixedWaiting = 600;
constexpr std::uint64_t kMixedGpu = 700;

// 900 frames at about 10 ms in a game with a managed run-time. Call site 1 allocates every 60th
// frame from the 40th on, longer each time; call site 2 runs for the first time in frame 333 and
// takes 9 ms; 5 frames at no regular interval compute for 4 ms.
TraceBuilder sample_periodic();
constexpr std::uint64_t kPeriodicFirstTime = 333;

// 300 frames of 16.67 ms under vsync; the work of frame 150 grows from 9 to 13.4 ms.
TraceBuilder sample_vsync();
// 120 windows, never a present; window 60 allocates most.
TraceBuilder sample_windows();
// A recording of a game that ended at once.
TraceBuilder sample_empty();
// 200 frames, of which 100..102 lost events.
TraceBuilder sample_gaps();

}  // namespace hitch::support
