#include "support/trace_facts.h"

#include <gtest/gtest.h>

#include <ostream>

#include "viewer/load/byte_source.h"
#include "viewer/load/trace_reader.h"
#include "viewer/model/trace_loader.h"

namespace hitch::support {

void PrintTo(const CallTotals& totals, std::ostream* out) {
  *out << totals.allocs << " allocs, " << totals.frees << " frees, " << totals.reallocs
       << " reallocs, " << totals.null_frees << " null frees, " << totals.bytes << " bytes";
}

model::Trace read_trace(const std::string& path) {
  auto source = load::open_file(path);
  if (!source) {
    ADD_FAILURE() << path << " " << source.error().sentence();
    return {};
  }
  auto reader = load::TraceReader::open(*source);
  if (!reader) {
    ADD_FAILURE() << path << " " << reader.error().sentence();
    return {};
  }
  return model::load_trace(*reader);
}

CallTotals counter_totals(const model::Trace& trace) {
  CallTotals totals;
  for (const auto& [thread, counters] : trace.counters) {
    totals.allocs += counters.allocs;
    totals.frees += counters.frees;
    totals.reallocs += counters.reallocs;
    totals.null_frees += counters.null_frees;
    totals.bytes += counters.alloc_bytes;
  }
  return totals;
}

CallTotals frame_totals(const model::Trace& trace) {
  CallTotals totals;
  for (const model::FrameThread& row : trace.frame_threads) {
    totals.allocs += row.allocs;
    totals.frees += row.frees;
    totals.reallocs += row.reallocs;
    totals.bytes += row.bytes;
  }
  return totals;
}

std::uint64_t recorded(const model::Trace& trace) {
  std::uint64_t sum = 0;
  for (const auto& [thread, counters] : trace.counters) sum += counters.recorded;
  return sum;
}

std::uint64_t dropped(const model::Trace& trace) {
  std::uint64_t sum = 0;
  for (const auto& [thread, counters] : trace.counters) sum += counters.dropped;
  return sum;
}

std::size_t frames_of_kind(const model::Trace& trace, model::FrameKind kind) {
  std::size_t count = 0;
  for (const model::Frame& frame : trace.frames) count += frame.kind == kind ? 1 : 0;
  return count;
}

bool has_module(const model::Trace& trace, const std::string& file_name) {
  for (const model::Module& module : trace.modules) {
    if (module.path.ends_with("/" + file_name)) return true;
  }
  return false;
}

}  // namespace hitch::support
