// Tells the recorder which modules are mapped, so that addresses of a library that is gone by the
// time anyone looks still have a name.
#pragma once
#include "record/thread_state.h"

namespace hitch::interpose {

// Writes a record for each module that came since the last call and for each that went. Cheap when
// nothing changed (one loader call that looks at two counters). Takes the loader's lock: not for
// malloc hooks; no lock of ours is held. Skipped when another thread is at it.
void announce_modules(record::ThreadState& state);

}  // namespace hitch::interpose
