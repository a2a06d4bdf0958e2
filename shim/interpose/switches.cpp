#include "interpose/switches.h"

namespace hitch::interpose {

constinit Switches g_switches{true, true, true, true};
constinit CodeRange g_allocator{1, 0};

}  // namespace hitch::interpose
