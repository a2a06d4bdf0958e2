// One hitch or one window of the text report.
#pragma once
#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// Headline, reason, balance against the usual frame, slowest call, call sites, last message.
void write_hitch(Page& page, const analyse::Report& report, const analyse::Hitch& hitch,
                 std::size_t rank, SiteNames& names);

// The headline alone.
void write_hitch_brief(Page& page, const analyse::Report& report, const analyse::Hitch& hitch,
                       std::size_t rank);
void write_window_brief(Page& page, const analyse::Report& report,
                        const analyse::WindowCost& window, std::size_t rank);

void write_window(Page& page, const analyse::Report& report, const analyse::WindowCost& window,
                  std::size_t rank, SiteNames& names);

Ink verdict_ink(analyse::Verdict verdict);

}  // namespace hitch::render
