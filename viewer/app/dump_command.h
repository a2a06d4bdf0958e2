// `hitchtrace dump`: every record of a trace, as text or as JSON lines.
#pragma once
#include <iosfwd>
#include <string>

namespace hitch::app {

struct DumpOptions {
  std::string trace;
  bool json = false;
  bool events = false;  // of a recording that kept them, instead of the records
};

// Returns the exit status: 0, or 1 when the trace cannot be read.
int dump_command(const DumpOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace hitch::app
