// Why a hitch took longer than the frames around it.
#pragma once
#include "viewer/analyse/hitches.h"

namespace hitch::analyse {

// Fills excess, causes, coincidences and verdict from balance, usual and the other threads'
// numbers.
//
// A part is named when its excess makes a fifth of the whole, as "partly" below half. Where the
// parts' excesses sum to more than the whole and switches are not known, the surplus is time
// counted twice inside allocator calls (blocked on a lock, faulting) and is taken off waiting and
// faults.
void explain(Hitch& hitch, const model::Trace& trace, const Measures& measures);

}  // namespace hitch::analyse
