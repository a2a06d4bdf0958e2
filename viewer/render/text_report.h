// The report as text. Its first screen says how many frames hitched, why, and who called.
#pragma once
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// `top`: hitches and call sites shown; 0: all.
std::string text_report(const analyse::Report& report, const std::string& file, Style style,
                        std::size_t top, SiteNames& names);

// Pieces that the one-screen summary shares.
void write_title(Page& page, const analyse::Report& report, const std::string& file);
void write_answer(Page& page, const analyse::Report& report, SiteNames& names);
void write_frame_times(Page& page, const analyse::Report& report);
std::string recording_cost(const analyse::Report& report);
std::string losses_text(const analyse::Report& report);  // empty when nothing was lost
std::string site_row(const Page& page, const analyse::Report& report, model::SiteId site,
                     SiteNames& names);
std::string site_table_head(const Page& page, const analyse::Report& report);

}  // namespace hitch::render
