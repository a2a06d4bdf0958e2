// How long blocks live, rebuilt from the events of a recording that kept them: per call site, what
// dies within its frame, what stays, what grows, what becomes slower.
//
// One walk through the events in the order they were drained, with the blocks live at that moment
// in a table; memory grows with those and with call sites, not with events. A realloc ends one
// block and begins another. After a gap (events that were not kept, or lost) no block is known:
// those then live are counted as `lost_sight` and take no part in lifetimes or leaks.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/load/event_stream.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

// Frames between birth and death: 0, 1, 2-3, 4-7, ... 2^14 and more.
constexpr std::size_t kLifetimeBuckets = 16;
std::size_t lifetime_bucket(std::uint64_t frames);

// Growth is looked at in so many equal steps of the recording.
constexpr std::size_t kGrowthSteps = 16;

// Latency of one site's allocations near the start of the recording and near its end.
struct Drift {
  std::uint64_t first_calls = 0;
  std::uint64_t last_calls = 0;
  double first_median_ns = 0;  // within 3 %
  double last_median_ns = 0;
  double first_mean_ns = 0;
  double last_mean_ns = 0;

  double ratio() const { return first_median_ns > 0 ? last_median_ns / first_median_ns : 0; }
};

struct SiteLifetimes {
  std::uint64_t born = 0;  // blocks that were allocated here
  std::uint64_t born_bytes = 0;
  std::uint64_t died = 0;            // of them: released while the recording watched
  std::uint64_t died_in_frame = 0;   // in the frame they were born in
  std::uint64_t died_on_thread = 0;  // released by the thread that allocated them
  std::uint64_t died_last = 0;       // and nothing that thread had allocated later was still live
  std::uint64_t temporary = 0;       // died in their frame on their thread
  std::uint64_t temporary_bytes = 0;
  std::uint64_t alloc_ticks = 0;  // of the allocations
  std::uint64_t free_ticks = 0;   // of the releases of these blocks, wherever they were called
  std::uint64_t least_size = ~std::uint64_t{0};
  std::uint64_t most_size = 0;
  std::uint64_t moved = 0;        // reallocs that moved a block of this site
  std::uint64_t moved_bytes = 0;  // what they copied at most
  std::uint64_t live = 0;         // at the end
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_live = 0;
  std::uint64_t peak_bytes = 0;
  std::uint32_t peak_frame = 0;  // position in Trace::frames, of peak_bytes
  std::array<std::uint64_t, kLifetimeBuckets> lifetimes{};  // of those that died, in frames
  std::array<std::uint64_t, kGrowthSteps> live_after{};     // blocks live at the end of each step
  std::array<std::uint64_t, kGrowthSteps> bytes_after{};
  std::uint64_t pages = 0;  // of 4 KiB that its blocks touch at the end
  std::optional<Drift> drift;

  // Bytes a minute, over the second half of the recording; only where it rose nearly all the time.
  double growth_per_minute = 0;
};

struct Lifetimes {
  std::vector<SiteLifetimes> sites;  // one for each of Trace::sites
  load::EventStreamResult stream;
  std::uint64_t born = 0;
  std::uint64_t died = 0;
  std::array<std::uint64_t, kLifetimeBuckets> lifetimes{};
  std::uint64_t unknown_releases = 0;  // of blocks from before the recording, or from before a gap
  std::uint64_t implied_releases = 0;  // an address was handed out again: the release was missed
  std::uint64_t lost_sight = 0;        // live when a gap began
  std::uint64_t live = 0;              // at the end
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_tracked = 0;
  std::uint64_t shared_lines = 0;  // live neighbours of two threads in one cache line
  double drift_window_ns = 0;      // how long start and end are; 0: the recording is too short
  double watched_ns = 0;           // first event to last

  // Leaks and growth can be told only when the events are complete.
  bool complete() const {
    return stream.skipped == 0 && stream.given_up == 0 && stream.missing == 0;
  }
};

Lifetimes lifetimes_of(load::TraceReader& reader, const model::Trace& trace,
                       const load::OnProgress& progress = nullptr);

}  // namespace hitch::analyse
