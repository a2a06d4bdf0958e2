// What run-times with a heap of their own mean for the numbers.
#pragma once
#include <string>

#include "viewer/analyse/report.h"

namespace hitch::render {

// One note; empty when there is none.
std::string managed_heaps_text(const analyse::Report& report);

}  // namespace hitch::render
