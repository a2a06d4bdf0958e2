// What the shim itself costs on this machine: measured at start, printed in every report, and the
// base of the estimate of its own share of a frame.
#pragma once
#include "record/thread_state.h"

namespace hitch::session {

// Runs the hooks' own code against a scratch buffer and writes the prices into SharedHeader. Takes
// well under a millisecond. Nothing it does is recorded or counted.
void measure_prices(record::ThreadState& state);

}  // namespace hitch::session
