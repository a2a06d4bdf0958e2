// Pieces of text that the whole report and the one-screen summary share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

void write_title(Page& page, const analyse::Report& report, const std::string& file);
// How many frames hitched, why, and who called.
void write_answer(Page& page, const analyse::Report& report, SiteNames& names);
void write_frame_times(Page& page, const analyse::Report& report);
std::string recording_cost(const analyse::Report& report);
std::string losses_text(const analyse::Report& report);  // empty when nothing was lost
std::string site_row(const Page& page, const analyse::Report& report, model::SiteId site,
                     SiteNames& names);
// Under a site's row: who called it, in the heaviest of its callstacks. Empty when that is not
// known.
std::string callers_row(const Page& page, const analyse::Report& report, model::SiteId site,
                        SiteNames& names);
// Which share of callstacks is not whole, and where they end; empty when all are.
std::string stack_quality_text(const analyse::Report& report);
std::string site_table_head(const Page& page, const analyse::Report& report);

// A label and right-aligned cells.
std::string row(const Page& page, const std::string& label, const std::vector<std::string>& cells);
// "1 frame", "1,204 frames".
std::string plural(std::uint64_t count, const char* one, const char* many);
// "a frame", or "a window" when the trace has no picture frame.
const char* per_frame(const analyse::Report& report);

}  // namespace hitch::render
