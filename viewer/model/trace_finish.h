// What makes a trace whole once all its records are in: in this order.
#pragma once
#include "viewer/model/trace.h"

namespace hitch::model {

// Frames whose rows were taken out of the file would look as if nothing had been done in them.
void leave_out_given_up(Trace& trace);
// Afterwards threads_of() works.
void index_frame_threads(Trace& trace);
// Afterwards every id in the model names something that is there.
void drop_dangling(Trace& trace);

}  // namespace hitch::model
