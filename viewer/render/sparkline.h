// A row of frame times, one column for a stretch of the run.
#pragma once
#include <string>
#include <vector>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"

namespace hitch::render {

struct Sparkline {
  std::string bars;    // the longest frame of each stretch
  std::string marks;   // under it: ^ hitch, v hidden by vsync, l loading; blank when there are none
  double full_ns = 0;  // what a full bar stands for; longer frames are full too
};

// At most `columns` wide; with fewer frames one column each.
Sparkline sparkline_of(const analyse::Report& report, const Page& page, std::size_t columns);

}  // namespace hitch::render
