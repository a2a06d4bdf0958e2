// Sums over a trace that tests compare with what a program is known to have done.
#pragma once
#include <cstdint>
#include <string>

#include "support/run_target.h"
#include "viewer/model/trace.h"

namespace hitch::support {

// Fails the current test with the reason when the trace cannot be read.
model::Trace read_trace(const std::string& path);

// Exact counters of all threads, and those outside any thread.
CallTotals counter_totals(const model::Trace& trace);
// The same from the rows of frames and threads; null_frees is not in them.
CallTotals frame_totals(const model::Trace& trace);

// Calls that reached the recorder one by one, and those that did not.
std::uint64_t recorded(const model::Trace& trace);
std::uint64_t dropped(const model::Trace& trace);
std::size_t frames_of_kind(const model::Trace& trace, model::FrameKind kind);
bool has_module(const model::Trace& trace, const std::string& file_name);

}  // namespace hitch::support
