// `hitchtrace run`: starts a game under the recorder and shows one screen when it ends.
#pragma once
#include <iosfwd>

#include "viewer/app/run_options.h"

namespace hitch::app {

// Everything is said on `errors`: the game's own output stays clean. Returns the exit status: the
// game's (128 + N after signal N), 127 when it is not found, 126 when it cannot be executed, 125
// when hitchtrace itself failed.
int run_command(const RunOptions& options, std::ostream& errors);

}  // namespace hitch::app
