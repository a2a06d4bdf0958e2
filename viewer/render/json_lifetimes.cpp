#include <algorithm>
#include <array>

#include "viewer/render/json_pieces.h"

namespace hitch::render {
namespace {

using analyse::Lifetimes;
using analyse::SiteLifetimes;

Json drift_json(const std::optional<analyse::Drift>& drift) {
  if (!drift) return nullptr;
  return {{"ratio", drift->ratio()},
          {"first_median_ns", drift->first_median_ns},
          {"last_median_ns", drift->last_median_ns},
          {"first_mean_ns", drift->first_mean_ns},
          {"last_mean_ns", drift->last_mean_ns},
          {"first_calls", drift->first_calls},
          {"last_calls", drift->last_calls}};
}

Json site_lifetimes(const analyse::Report& report, model::SiteId id, SiteNames& names) {
  const SiteLifetimes& site = report.lifetimes->sites[id.index()];
  const auto ns = [&](std::uint64_t ticks) { return report.trace.clock.ns(ticks); };
  Json json = site_json(report, id, names);
  json["born"] = site.born;
  json["born_bytes"] = site.born_bytes;
  json["died"] = site.died;
  json["died_in_frame"] = site.died_in_frame;
  json["died_on_thread"] = site.died_on_thread;
  json["died_last_in_first_out"] = site.died_last;
  json["temporary"] = site.temporary;
  json["temporary_bytes"] = site.temporary_bytes;
  json["allocation_ms"] = ns(site.alloc_ticks) / 1e6;
  json["release_ms"] = ns(site.free_ticks) / 1e6;
  json["least_size"] = site.born > 0 ? site.least_size : 0;
  json["most_size"] = site.most_size;
  json["moved_by_realloc"] = site.moved;
  json["moved_bytes"] = site.moved_bytes;
  json["live"] = site.live;
  json["live_bytes"] = site.live_bytes;
  json["live_pages"] = site.pages;
  json["peak_live"] = site.peak_live;
  json["peak_bytes"] = site.peak_bytes;
  json["peak_frame"] = site.peak_frame < report.trace.frames.size()
                           ? Json(report.trace.frames[site.peak_frame].number)
                           : Json(nullptr);
  json["lifetimes"] = site.lifetimes;
  json["bytes_after"] = site.bytes_after;
  json["growth_bytes_per_minute"] = site.growth_per_minute;
  json["drift"] = drift_json(site.drift);
  json["stack"] = stack_json(report, report.trace.sites[id.index()].stack, names);
  return json;
}

}  // namespace

Json lifetimes_json(const analyse::Report& report, std::size_t top, SiteNames& names) {
  if (!report.lifetimes) return nullptr;
  const Lifetimes& lifetimes = *report.lifetimes;
  std::vector<model::SiteId> order;
  for (std::size_t i = 0; i < lifetimes.sites.size(); ++i) {
    if (lifetimes.sites[i].born > 0) order.emplace_back(i);
  }
  // What any of the text's sections could rank first is among the first here.
  const auto weight = [&](model::SiteId id) {
    const SiteLifetimes& site = lifetimes.sites[id.index()];
    return std::max({site.alloc_ticks + site.free_ticks, site.peak_bytes, site.live_bytes});
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](model::SiteId a, model::SiteId b) { return weight(a) > weight(b); });
  Json sites = Json::array();
  for (const model::SiteId id : order) {
    if (top != 0 && sites.size() == top * 4) break;
    sites.push_back(site_lifetimes(report, id, names));
  }
  return {{"events", lifetimes.stream.events},
          {"skipped_events", lifetimes.stream.skipped},
          {"given_up_events", lifetimes.stream.given_up},
          {"missing_events", lifetimes.stream.missing},
          {"complete", lifetimes.complete()},
          {"born", lifetimes.born},
          {"died", lifetimes.died},
          {"lifetimes", lifetimes.lifetimes},
          {"unknown_releases", lifetimes.unknown_releases},
          {"implied_releases", lifetimes.implied_releases},
          {"lost_sight", lifetimes.lost_sight},
          {"live", lifetimes.live},
          {"live_bytes", lifetimes.live_bytes},
          {"shared_cache_lines", lifetimes.shared_lines},
          {"drift_window_ms", lifetimes.drift_window_ns / 1e6},
          {"sites", sites}};
}

Json memory_json(const analyse::Report& report) {
  const analyse::MemoryTrend& memory = report.memory;
  if (memory.samples == 0) return nullptr;
  Json heap = nullptr;
  if (memory.heap) {
    heap = {{"mappings", memory.heap->mappings},
            {"mapped_bytes", memory.heap->mapped},
            {"spanned_bytes", memory.heap->spanned},
            {"live_bytes", memory.heap->live_bytes},
            {"filled", memory.filled()},
            {"largest_gap_bytes", memory.heap->largest_gap},
            {"worst_gap_bytes", memory.worst_gap}};
  }
  return {{"samples", memory.samples},
          {"seconds", memory.seconds},
          {"first_resident_bytes", memory.first_resident},
          {"last_resident_bytes", memory.last_resident},
          {"peak_resident_bytes", memory.peak_resident},
          {"last_private_bytes", memory.last_private},
          {"last_live_bytes", memory.last_live_bytes},
          {"peak_live_bytes", memory.peak_live_bytes},
          {"resident_growth_bytes_per_minute", memory.resident_growth},
          {"live_growth_bytes_per_minute", memory.live_growth},
          {"heap", heap}};
}

}  // namespace hitch::render
