// Page faults in words: whose memory, who touched it, what it cost and what to do about it.
#pragma once
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/page.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// "512 page faults (est. 1.10 ms) first-touching 2.00 MiB from Texture::load (texture.cpp:88)".
std::string fault_group_text(const analyse::FaultGroup& group, SiteNames& names,
                             const model::Trace& trace);
// The same without numbers of faults: "first-touching 2.00 MiB from Texture::load
// (texture.cpp:88)".
std::string fault_what(const analyse::FaultGroup& group, SiteNames& names,
                       const model::Trace& trace);
// The dearest group of a hitch's presenting thread that makes a good part of its faults; null when
// none does.
const analyse::FaultGroup* main_group(const std::vector<analyse::FaultGroup>& groups);
// What to do about faults of a group, one sentence without "Try:".
std::string fault_remedy(const analyse::FaultGroup& group, const analyse::Report& report,
                         SiteNames& names);
// Where faults were learnt from, what a fault takes and what recording it adds.
std::string fault_source_text(const analyse::Report& report);
// Why no better source of faults was in use and what to type; empty when the best one was.
std::string fault_note_text(const analyse::Report& report);
// Nothing when no thread lost a visible part of its time in the allocator.
void write_contention(Page& page, const analyse::Report& report, std::size_t top, SiteNames& names);
// The sections PAGE FAULTS and MMAP CHURN.
void write_faults(Page& page, const analyse::Report& report, std::size_t top, SiteNames& names);

}  // namespace hitch::render
