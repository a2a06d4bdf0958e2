// Every record of a trace as text or JSON lines, straight from records.def. The text is what golden
// tests compare: one line a record, `Kind field=value ...`, in file order; texts quoted as in JSON,
// bytes in hex, times and durations in ticks.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "viewer/load/trace_reader.h"

namespace hitch::render {

enum class DumpFormat { kText, kJsonLines };

// The events of a recording that kept them (option keep), one a line: `Event kind=alloc time=...`,
// times and durations in ticks, and what is missing at the end. Stops early when `out` fails.
// Returns a sentence for each damaged block.
std::vector<std::string> write_events(load::TraceReader& reader, DumpFormat format,
                                      std::ostream& out);

// Stops early when `out` fails.
void write_dump(load::TraceReader& reader, DumpFormat format, std::ostream& out);

}  // namespace hitch::render
