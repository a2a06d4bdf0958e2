// When hitches come, in words.
#pragma once
#include <cstddef>
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// "every 60 frames (1.00 s +- 2 %), 14 times"; empty for a hitch like no other and for one without
// a pattern. No full stop.
std::string pattern_text(const analyse::Report& report, const analyse::Hitch& hitch,
                         const Style& style, SiteNames& names);

// Groups of two and more, and the first runs of code together; nothing when there are neither.
void write_hitch_groups(Page& page, const analyse::Report& report, std::size_t top,
                        SiteNames& names);

}  // namespace hitch::render
