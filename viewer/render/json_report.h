// The report as JSON; report_schema.md lists every key. The numbers are those of the text report,
// not rounded.
#pragma once
#include <iosfwd>
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

void json_report(const analyse::Report& report, const std::string& file, std::size_t top,
                 SiteNames& names, std::ostream& out);

}  // namespace hitch::render
