// The one screen at the end of a recording: at most kSummaryLines lines of the page's width.
#pragma once
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

constexpr std::size_t kSummaryLines = 24;

std::string summary_text(const analyse::Report& report, const std::string& file, Style style,
                         SiteNames& names);

}  // namespace hitch::render
