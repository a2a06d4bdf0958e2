#include "viewer/render/json_pieces.h"

namespace hitch::render {
namespace {

using analyse::Report;

Json meetings_json(const analyse::Meetings& meetings) {
  return {{"hitches", meetings.marked},
          {"top_frames", meetings.top},
          {"met", meetings.met},
          {"expected", meetings.expected},
          {"probability", meetings.probability}};
}

Json rhythm_json(const std::optional<analyse::Rhythm>& rhythm) {
  if (!rhythm) return nullptr;
  return {{"unit", rhythm->by_frames() ? "frames" : "ms"},
          {"frames", rhythm->frames},
          {"frames_spread", rhythm->frames_spread},
          {"ms", rhythm->ns / 1e6},
          {"ms_spread", rhythm->ns_spread},
          {"times", rhythm->times}};
}

}  // namespace

Json correlation_json(const std::optional<analyse::Correlation>& correlation) {
  if (!correlation) return nullptr;
  return {{"pearson", correlation->pearson}, {"spearman", correlation->spearman}};
}

Json pattern_json(const Report& report, model::FrameId frame) {
  const auto found = report.patterns.of_hitch.find(frame);
  if (found == report.patterns.of_hitch.end()) return nullptr;
  return {{"kind", analyse::pattern_key(found->second.kind)}, {"group", found->second.group}};
}

Json hitch_groups_json(const Report& report, SiteNames& names) {
  Json groups = Json::array();
  for (const analyse::HitchGroup& group : report.patterns.groups) {
    Json frames = Json::array();
    for (const model::FrameId id : group.frames)
      frames.push_back(report.trace.frames[id.index()].picture);
    groups.push_back({{"verdict", analyse::verdict_key(group.verdict)},
                      {"site", group.site ? site_json(report, *group.site, names) : Json(nullptr)},
                      {"kind", analyse::pattern_key(group.kind)},
                      {"frames", frames},
                      {"excess_ms", group.excess_ns / 1e6},
                      {"median_excess_ms", group.median_excess_ns / 1e6},
                      {"median_gap_ms", group.median_gap_ns / 1e6},
                      {"period", rhythm_json(group.rhythm)},
                      {"rise", group.rise ? Json({{"first_ms", group.rise->first_ns / 1e6},
                                                  {"last_ms", group.rise->last_ns / 1e6}})
                                          : Json(nullptr)}});
  }
  return groups;
}

Json correlations_json(const Report& report) {
  const analyse::SlowFrames& slow = report.slow_frames;
  Json measures = Json::array();
  for (std::size_t i = 0; i < analyse::kCompanions; ++i) {
    if (!slow.companions[i]) continue;
    const analyse::CompanionStats& stats = *slow.companions[i];
    measures.push_back({{"measure", analyse::companion_key(static_cast<analyse::Companion>(i))},
                        {"frames", stats.frames},
                        {"to_wall", correlation_json(stats.wall)},
                        {"to_work", correlation_json(stats.work)},
                        {"same_frame", meetings_json(stats.same)},
                        {"frame_before", meetings_json(stats.before)}});
  }
  Json finding = nullptr;
  if (slow.finding) {
    finding = {{"measure", analyse::companion_key(slow.finding->companion)},
               {"frames_before", slow.finding->before ? 1 : 0}};
  }
  return {{"frames", slow.frames},
          {"hitches", slow.hitches},
          {"finding", finding},
          {"measures", measures}};
}

Json managed_heaps_json(const Report& report) {
  Json heaps = Json::array();
  for (const analyse::ManagedHeap& heap : report.managed_heaps) {
    heaps.push_back({{"runtime", heap.runtime},
                     {"module", heap.module},
                     {"heap", analyse::heap_source_key(heap.source)}});
  }
  return heaps;
}

}  // namespace hitch::render
