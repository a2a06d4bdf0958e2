// The events of a recording that kept them, one block at a time. Blocks are unpacked by other
// threads while the caller looks at the one before.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "format/event_block.h"
#include "viewer/load/trace_reader.h"

namespace hitch::load {

struct EventBlock {
  std::span<const format::KeptEvent>
      events;  // about 130,000 at most, in the order they were drained
  // Events that came before these and are not in the file, for whatever reason: what is known of
  // live blocks is then out of date.
  std::uint64_t gap = 0;
};

struct EventStreamResult {
  std::uint64_t events = 0;
  std::uint64_t skipped = 0;          // left out on purpose: no hitch near, or recording paused
  std::uint64_t given_up = 0;         // taken out again to keep the file small
  std::uint64_t missing = 0;          // in blocks that are lost or damaged
  std::vector<std::string> warnings;  // one sentence for each damaged block, ten at most
};

// Told about once for each chunk: `done` of `all` bytes.
using OnProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// Calls `visit` for each block in file order, always from the calling thread. Memory is bounded by
// a few blocks a thread. What is damaged is left out and counted.
EventStreamResult for_each_event_block(TraceReader& reader,
                                       const std::function<void(const EventBlock&)>& visit,
                                       const OnProgress& progress = nullptr);

}  // namespace hitch::load
