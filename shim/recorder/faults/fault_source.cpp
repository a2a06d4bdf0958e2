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
  if (auto source = open_pagemap(config.pid, why_no_pagemap))
    return {std::move(source), config.wanted == Wanted::kPagemap ? std::string() : why};
  return {open_rusage(), why.empty() ? why_no_pagemap : why};
}

}  // namespace hitch::faults
