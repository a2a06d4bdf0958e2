// Why a frame hitched, in words.
#pragma once
#include <string>

#include "viewer/analyse/report.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

// "allocator", "waiting: memory elsewhere", "not memory": for lists and counts.
const char* verdict_label(analyse::Verdict verdict);
const char* part_label(analyse::Part part);

// The whole reason in one or a few clauses: causes with their share of the excess, partly causes,
// what other threads did before "not memory" is said, counts that peaked. No full stop.
std::string cause_sentence(const analyse::Report& report, const analyse::Hitch& hitch,
                           SiteNames& names);
// What to do about it, one sentence without full stop; empty when nothing can be said.
std::string try_text(const analyse::Report& report, const analyse::Hitch& hitch, SiteNames& names);

// "allocator 7, page faults 3, not memory 2", most frequent first.
std::string verdict_counts(const std::vector<analyse::Hitch>& hitches);

}  // namespace hitch::render
