// Which OpenGL driver the game draws with: what makes two traces comparable.
#pragma once

namespace hitch::present {

// Asks the current context once, at the first GLX or EGL present, and leaves the answer in shared
// memory.
void note_driver_name();

}  // namespace hitch::present
