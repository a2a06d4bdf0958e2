// Which call site a hitch comes down to, for every hitch of a run.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "viewer/analyse/hitches.h"
#include "viewer/load/trace_reader.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

// A place in the code: a function with all its kinds of calls, where functions are known. Named by
// its first site.
struct ExplainingSite {
  model::SiteId site;
  double share = 0;               // of the hitch's excess
  std::uint64_t first_frame = 0;  // number of the first it was called in
};

// By frame. A place explains a third of a hitch's excess or more: with what it took in the
// allocator beyond its usual, on the presenting thread unless the hitch waited for others, and, of
// a hitch of page faults, with the pages its blocks are large enough to hold beyond their usual,
// or, where the owners of faults were seen, with those. A hitch without such a place has no entry.
// Walks the chunks around hitches, some frames at a time.
std::map<model::FrameId, ExplainingSite> explaining_sites(load::TraceReader& reader,
                                                          const model::Trace& trace,
                                                          const std::vector<const Hitch*>& hitches,
                                                          const Measures& measures);

}  // namespace hitch::analyse
