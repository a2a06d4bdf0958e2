// The events of a recording that kept them, one block at a time.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "format/event_block.h"
#include "viewer/load/trace_reader.h"

namespace hitch::load {

struct EventStreamResult {
  std::uint64_t events = 0;
  std::uint64_t skipped = 0;          // left out on purpose: no hitch near, or recording paused
  std::uint64_t given_up = 0;         // taken out again to keep the file small
  std::uint64_t missing = 0;          // in blocks that are lost or damaged
  std::vector<std::string> warnings;  // one sentence for each damaged block, ten at most
};

// Calls `visit` for each block in file order: about 130,000 events, in the order they were drained.
// Memory is bounded by a few blocks. What is damaged is left out and counted.
EventStreamResult for_each_event_block(
    TraceReader& reader, const std::function<void(std::span<const format::KeptEvent>)>& visit);

}  // namespace hitch::load
