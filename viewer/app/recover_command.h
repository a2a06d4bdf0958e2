// `hitchtrace recover`: gives a recording that was cut short its index back.
#pragma once
#include <iosfwd>
#include <string>

namespace hitch::app {

struct RecoverOptions {
  std::string trace;
  std::string output;  // empty: repair `trace` in place
};

// Says on `out` in one sentence what was done; a whole trace is left as it is. Returns the exit
// status: 0, or 1 when the trace cannot be read or written.
int recover_command(const RecoverOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace hitch::app
