// Loading is not play: which frames belong to a loading phase.
#pragma once
#include <vector>

#include "viewer/model/trace.h"

namespace hitch::analyse {

// One flag for each frame. A picture frame is loading when
//   - it lasts a second or more (no present), or
//   - in the two seconds from its begin, or up to its end, presents were rarer than ten a second
//   and
//     than a quarter of the run's usual rate, or
//   - it is one of the first three of the run (what is set up at first use), or
//   - it read 32 or more pages from files and lasted four times the run's median.
// A single freeze below a second during play stays a hitch of play.
std::vector<bool> loading_frames(const model::Trace& trace);

}  // namespace hitch::analyse
