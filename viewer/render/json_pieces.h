// Pieces of the JSON report that its parts share.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "viewer/analyse/report.h"
#include "viewer/render/site_names.h"

namespace hitch::render {

using Json = nlohmann::ordered_json;

Json site_json(const analyse::Report& report, model::SiteId id, SiteNames& names);
// Innermost entry first.
Json stack_json(const analyse::Report& report, const std::optional<model::StackId>& id,
                SiteNames& names);

// Null when there is none.
Json correlation_json(const std::optional<analyse::Correlation>& correlation);
// Null for a hitch without a pattern.
Json pattern_json(const analyse::Report& report, model::FrameId frame);
Json hitch_groups_json(const analyse::Report& report, SiteNames& names);
Json correlations_json(const analyse::Report& report);
Json managed_heaps_json(const analyse::Report& report);

// Null without events.
Json lifetimes_json(const analyse::Report& report, std::size_t top, SiteNames& names);
// Null without samples.
Json memory_json(const analyse::Report& report);

// The whole run's page faults.
Json faults_json(const analyse::Report& report, std::size_t top, SiteNames& names);
// One hitch's: whose memory, of the presenting thread and of the others.
Json hitch_faults_json(const analyse::Report& report, const analyse::Hitch& hitch, std::size_t top,
                       SiteNames& names);
// The balance of every thread that has a row in the frame.
Json threads_json(const analyse::Report& report, model::FrameId frame, SiteNames& names);
// Threads that lost time to each other inside the allocator, over the run.
Json contention_json(const analyse::Report& report, SiteNames& names);
// What ran in a frame that hitched, by place.
Json code_json(const analyse::Report& report, model::FrameId frame, std::size_t top,
               SiteNames& names);

}  // namespace hitch::render
