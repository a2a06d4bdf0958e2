// What the aggregator remembers of one thread between its events.
#pragma once
#include <cstdint>
#include <vector>

#include "recorder/frames/latencies.h"
#include "recorder/frames/site_table.h"
#include "recorder/frames/thread_kernel.h"
#include "recorder/resolve/live_blocks.h"
#include "recorder/resolve/stacks.h"

namespace hitch::frames {

// A release whose duration has not come yet: it rides in the thread's next record.
struct PendingFree {
  bool open = false;
  std::uint64_t frame = 0;
  std::uint64_t key = 0;     // when it was called
  std::uint64_t serial = 0;  // of the rows the numbers below are valid for
  std::uint32_t thread_row = 0;
  std::uint32_t site_row = 0;
  std::uint32_t site = 0;
  std::size_t size_class = 0;
  std::uint64_t tag = 0;
  std::uint64_t kept = 0;  // EventKeeper's number of it
};

struct PendingRealloc {
  bool open = false;
  bool known = false;  // the old block was live, and `block` is what it was
  std::uint64_t address = 0;
  resolve::LiveBlock block{};
};

struct ThreadLog {
  std::uint64_t thread_row_serial = 0;
  std::uint32_t thread_row = 0;
  bool living = false;
  std::uint64_t recorded = 0;
  std::uint64_t first_key = 0;
  std::uint64_t last_key = 0;
  PendingFree pending_free;
  PendingRealloc pending_realloc;
  std::vector<std::uint64_t> tags;  // Text ids, innermost last
  std::uint64_t tags_refused = 0;
  std::uint64_t freed_address = 0;  // the last release, for an outlier record about it
  std::uint64_t freed_size = 0;
  std::uint64_t flushed_allocs = 0;  // level count: what flushes have brought
  std::uint64_t flushed_frees = 0;
  std::uint64_t flushed_reallocs = 0;
  std::uint64_t flushed_bytes = 0;
  std::vector<resolve::Stacks::Node> path;  // the callstack, outermost entry first
  CallHistograms latencies;
  SiteTable sites;
  ThreadKernel* kernel = nullptr;  // what the kernel told about it; never null while it lives

  resolve::Stacks::Node stack() const { return path.empty() ? 0 : path.back(); }
  std::uint64_t tag() const { return tags.empty() ? 0 : tags.back(); }
};

}  // namespace hitch::frames
