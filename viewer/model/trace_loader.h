// Records -> Trace, in one walk over the file.
#pragma once
#include "viewer/load/trace_reader.h"
#include "viewer/model/trace.h"

namespace hitch::model {

// Rows beyond the limit are left out with a warning: a file made to exhaust memory does not.
struct LoadLimits {
  std::size_t rows = 64'000'000;
};

// Rows of the same key are added up, as records.def says. Rows that name things the trace never
// defined keep their numbers in the sums but lose the name.
Trace load_trace(load::TraceReader& reader, LoadLimits limits = {});

}  // namespace hitch::model
