// The report's sections about blocks rather than calls: what dies at once, what stays, what grows,
// what becomes slower, and how the memory looks.
#pragma once
#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// All sections that the trace has something for. Half of `top` call sites in each; 0: all.
void write_lifetimes(Page& page, const analyse::Report& report, std::size_t top, SiteNames& names);

}  // namespace hitch::render
