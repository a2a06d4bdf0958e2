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

}  // namespace hitch::render
