#include "recorder/faults/fault_source.h"

namespace hitch::faults {

OpenedSource open_source(const SourceConfig& config, const TickBridge& bridge) {
  if (config.wanted == Wanted::kNone) return {open_none(), {}};
  if (config.wanted == Wanted::kCount) return {open_rusage(), {}};
  std::string why;
  if (config.wanted != Wanted::kPagemap) {
    if (auto source = open_perf_event(config, bridge, why)) return {std::move(source), {}};
  }
  std::string why_no_pagemap;
  if (auto source = open_pagemap(config.pid, why_no_pagemap)) {
    if (config.wanted == Wanted::kPagemap) return {std::move(source), {}};
    return {std::move(source),
            "page faults: only first touches of large blocks are seen (pagemap), because " + why};
  }
  return {open_rusage(), "page faults are only counted (getrusage), because " +
                             (why.empty() ? why_no_pagemap : why)};
}

}  // namespace hitch::faults
