// `hitchtrace report`: which frames hitched, why, and who called.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "viewer/app/site_namer.h"

namespace hitch::app {

enum class Colour { kAuto, kAlways, kNever };

struct ReportOptions {
  std::string trace;
  bool json = false;     // the schema of viewer/render/report_schema.md
  bool summary = false;  // one screen: at most 24 lines
  // Frames longer than this are the hitches, instead of the rule below.
  std::optional<double> budget_ms;
  // A hitch exceeds the median around it by hitch_ms and by hitch_mad median absolute deviations.
  // Unset: what the recording was made with, else 1.5 and 6.
  std::optional<double> hitch_ms;
  std::optional<double> hitch_mad;
  Grouping group = Grouping::kEntry;  // what call sites are shown by
  std::vector<std::string> skip;      // functions to look through, see Plumbing
  unsigned top = 10;                  // hitches and call sites shown; 0: all
  Colour colour = Colour::kAuto;
  unsigned width = 0;                // columns; 0: the terminal's, else 80
  std::vector<std::string> symbols;  // files or folders with symbols, chosen by build-id
  bool debuginfod = false;           // may ask debuginfod servers
  bool lifetimes = true;             // walk through kept events, when there are any
};

// Writes the report to `out`, warnings and errors to `errors` (one sentence a line). Returns the
// exit status: 0, or 1 when the trace cannot be read. kAuto colours only when `out` is std::cout or
// std::cerr, that is a terminal, and NO_COLOR is not set.
int report_command(const ReportOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace hitch::app
