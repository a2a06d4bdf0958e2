#include "interpose/switches.h"

namespace hitch::interpose {

constinit Switches g_switches{true, true, true, true};

}  // namespace hitch::interpose
