// What goes with slow frames, as a table and a sentence.
#pragma once
#include "viewer/analyse/report.h"
#include "viewer/render/page.h"

namespace hitch::render {

// Nothing without picture frames.
void write_slow_frames(Page& page, const analyse::Report& report);

}  // namespace hitch::render
