#include "viewer/render/json_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "viewer/render/cause_text.h"
#include "viewer/render/json_pieces.h"
#include "viewer/render/page.h"

namespace hitch::render {
namespace {

const char* outlier_key(analyse::OutlierCause cause) {
  static constexpr std::array<const char*, 6> kKeys = {"unknown",  "page_faults", "mapping",
                                                       "trimming", "contention",  "preempted"};
  return kKeys[static_cast<std::size_t>(cause)];
}

using analyse::Hitch;
using analyse::Quantiles;
using analyse::Report;

double ms(double ns) { return ns / 1e6; }

const char* part_key(std::size_t part) {
  static constexpr std::array<const char*, analyse::kParts> kKeys = {
      "allocator", "page_faults", "waiting", "rest", "present", "sleep"};
  return kKeys[part];
}

Json quantiles(const Quantiles& q, double scale) {
  return {{"p50", q.p50 * scale},   {"p95", q.p95 * scale}, {"p99", q.p99 * scale},
          {"p999", q.p999 * scale}, {"max", q.max * scale}, {"mean", q.mean * scale}};
}

Json slowest_call(const Report& report, const Hitch& hitch, SiteNames& names) {
  if (!hitch.slowest_outlier) return nullptr;
  const model::Outlier& outlier = report.trace.outliers[*hitch.slowest_outlier];
  Json stack = Json::array();
  if (outlier.stack) {
    const model::Stack& entries = report.trace.stacks[outlier.stack->index()];
    for (std::size_t i = 0; i < entries.addresses.size(); ++i) {
      stack.push_back(names.entry(entries.modules[i], entries.addresses[i]).function);
    }
  }
  return {{"op", op_name(outlier.op)},
          {"ms", ms(report.trace.clock.ns(outlier.ticks))},
          {"bytes", outlier.size},
          {"thread", names.thread(outlier.thread)},
          {"site", outlier.site ? site_json(report, *outlier.site, names) : Json(nullptr)},
          {"cause", outlier_key(analyse::outlier_cause(report.trace, outlier, report.measures))},
          {"page_faults", outlier.faults},
          {"off_cpu_ms", ms(report.trace.clock.ns(outlier.off_ticks))},
          {"preempted_ms", ms(report.trace.clock.ns(outlier.preempted_ticks))},
          {"stack", stack}};
}

Json others_json(const Report& report, const Hitch& hitch, const SiteNames& names) {
  Json threads = Json::array();
  for (const analyse::OtherThread& other : hitch.busiest_others) {
    threads.push_back({{"thread", names.thread(other.thread)},
                       {"allocator_ms", ms(other.allocator_ns)},
                       {"allocations", other.allocs}});
  }
  return {{"allocator_ms", ms(hitch.others.allocator_ns)},
          {"usual_allocator_ms", ms(hitch.usual_others_allocator_ns)},
          {"page_faults", hitch.others.faults},
          {"usual_page_faults", hitch.usual_others_faults},
          {"page_faults_est_ms",
           ms(static_cast<double>(hitch.others.faults) * report.measures.fault_price_ns)},
          {"allocations", hitch.others.allocs},
          {"waited_allocator_ms", ms(hitch.others.waited_allocator_ns)},
          {"waited_page_faults", hitch.others.waited_faults},
          {"threads", threads}};
}

Json hitch_sites(const Report& report, const Hitch& hitch, std::size_t top, SiteNames& names) {
  Json sites = Json::array();
  const auto found = report.hitch_sites.find(hitch.frame);
  if (found == report.hitch_sites.end()) return sites;
  for (const analyse::HitchSite& site : found->second) {
    if (top != 0 && sites.size() == top) break;
    Json json = site_json(report, site.work.site, names);
    json["calls"] = site.work.calls();
    json["usual_calls"] = site.usual_calls;
    json["bytes"] = site.work.bytes;
    json["ms"] = ms(report.trace.clock.ns(site.work.ticks));
    json["usual_ms"] = ms(site.usual_ns);
    json["excess_ms"] = ms(site.excess_ns);
    json["presenting_thread_ms"] = ms(report.trace.clock.ns(site.work.presenting_ticks));
    json["slowest_ms"] = ms(report.trace.clock.ns(site.work.slowest_ticks));
    sites.push_back(std::move(json));
  }
  return sites;
}

Json hitch_json(const Report& report, const Hitch& hitch, std::size_t top, SiteNames& names) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  static constexpr std::array<const char*, 3> kCounts = {"allocations", "page_faults", "maps"};
  Json balance;
  for (std::size_t part = 0; part < analyse::kParts; ++part) {
    balance[part_key(part)] = {{"ms", ms(hitch.balance.parts[part])},
                               {"usual_ms", ms(hitch.usual.parts[part])},
                               {"excess_ms", ms(hitch.excess[part])}};
  }
  Json causes = Json::array();
  for (const analyse::Cause& cause : hitch.causes) {
    causes.push_back({{"part", part_key(analyse::part_index(cause.part))},
                      {"excess_ms", ms(cause.excess_ns)},
                      {"share", cause.share},
                      {"partly", cause.partly()}});
  }
  Json coincidences = Json::array();
  for (const analyse::Coincidence& coincidence : hitch.coincidences) {
    coincidences.push_back({{"count", kCounts[static_cast<std::size_t>(coincidence.count)]},
                            {"value", coincidence.value},
                            {"usual", coincidence.usual}});
  }
  return {{"frame", frame.picture},
          {"id", frame.number},
          {"begin_ms", ms(report.trace.clock.ns(frame.begin))},
          {"kind", hitch.kind == analyse::HitchKind::kWall ? "wall" : "hidden_by_vsync"},
          {"loading", hitch.loading},
          {"wall_ms", ms(hitch.balance.wall)},
          {"usual_wall_ms", ms(hitch.usual.wall)},
          {"work_ms", ms(hitch.balance.work)},
          {"usual_work_ms", ms(hitch.usual.work)},
          {"by_work", hitch.by_work},
          {"excess_ms", ms(hitch.excess_ns)},
          {"over_budget_ms", ms(hitch.over_budget_ns)},
          {"verdict", analyse::verdict_key(hitch.verdict)},
          {"sentence", cause_sentence(report, hitch, names)},
          {"pattern", pattern_json(report, hitch.frame)},
          {"causes", causes},
          {"coincidences", coincidences},
          {"balance", balance},
          {"counters_known", hitch.balance.counters_known},
          {"blocked_in_allocator_ms", ms(hitch.balance.blocked_in_allocator)},
          {"faults_in_allocator_est_ms", ms(hitch.balance.faults_in_allocator)},
          {"contention_ms", ms(hitch.balance.contention)},
          {"preempted_ms", ms(hitch.balance.preempted)},
          {"preempted_by_own_threads_ms", ms(hitch.balance.taken)},
          {"try", try_text(report, hitch, names)},
          {"page_faults", hitch_faults_json(report, hitch, top, names)},
          {"threads", threads_json(report, hitch.frame, names)},
          {"code", code_json(report, hitch.frame, top, names)},
          {"allocations", hitch.sums.allocs},
          {"usual_allocations", hitch.usual_allocs},
          {"bytes", hitch.sums.bytes},
          {"usual_bytes", hitch.usual_bytes},
          {"minor_faults", frame.minor_faults},
          {"usual_minor_faults", hitch.usual_faults},
          {"major_faults", frame.major_faults},
          {"voluntary_switches", frame.voluntary},
          {"involuntary_switches", frame.involuntary},
          {"live_blocks", frame.live_blocks},
          {"live_bytes", frame.live_bytes},
          {"own_cost_ms", ms(report.trace.clock.ns(frame.own_ticks))},
          {"other_threads", others_json(report, hitch, names)},
          {"slowest_call", slowest_call(report, hitch, names)},
          {"call_sites", hitch_sites(report, hitch, top, names)},
          {"message", printable(report.trace.text(frame.message))},
          {"events_lost", (frame.flags & model::kEventsLost) != 0},
          {"stacks_shed", (frame.flags & model::kStacksShed) != 0}};
}

Json hitch_list(const Report& report, const std::vector<Hitch>& list, std::size_t top,
                SiteNames& names) {
  Json hitches = Json::array();
  for (const Hitch& hitch : list) hitches.push_back(hitch_json(report, hitch, top, names));
  return hitches;
}

Json windows_json(const Report& report, std::size_t top, SiteNames& names) {
  Json windows = Json::array();
  for (const analyse::WindowCost& window : report.windows) {
    if (top != 0 && windows.size() == top) break;
    const model::Frame& frame = report.trace.frames[window.frame.index()];
    const analyse::FrameSums sums = analyse::sums_of(report.trace, window.frame);
    Json sites = Json::array();
    const auto found = report.window_sites.find(window.frame);
    if (found != report.window_sites.end()) {
      for (const model::FrameSite& site : found->second) {
        if (top != 0 && sites.size() == top) break;
        Json json = site_json(report, site.site, names);
        json["calls"] = site.calls();
        json["bytes"] = site.bytes;
        json["ms"] = ms(report.trace.clock.ns(site.ticks));
        sites.push_back(std::move(json));
      }
    }
    windows.push_back({{"window", frame.number},
                       {"begin_ms", ms(report.trace.clock.ns(frame.begin))},
                       {"allocator_ms", ms(window.allocator_ns)},
                       {"page_faults", window.faults},
                       {"page_faults_est_ms", ms(window.faults_ns)},
                       {"allocations", sums.allocs},
                       {"bytes", sums.bytes},
                       {"call_sites", sites}});
  }
  return windows;
}

Json call_sites_json(const Report& report, std::size_t top, SiteNames& names) {
  const analyse::CallSites& sites = report.call_sites;
  Json list = Json::array();
  for (const model::SiteId id : sites.ranked) {
    if (top != 0 && list.size() == top) break;
    const model::SiteTotals& sum = report.trace.site_totals[id.index()];
    Json json = site_json(report, id, names);
    json["allocations"] = sum.allocs;
    json["releases"] = sum.frees;
    json["reallocs"] = sum.reallocs;
    json["bytes"] = sum.bytes;
    json["ms"] = ms(report.trace.clock.ns(sum.ticks));
    json["slowest_ms"] = ms(report.trace.clock.ns(sum.slowest_ticks));
    json["frames"] = sum.frames;
    json["stacks"] = report.trace.sites[id.index()].stacks;
    json["stack"] = stack_json(report, report.trace.sites[id.index()].stack, names);
    list.push_back(std::move(json));
  }
  return {{"count", sites.ranked.size()},
          {"ranked_by", report.measures.calls_timed ? "time" : "calls"},
          {"total_ms", ms(sites.total_ns)},
          {"total_calls", sites.total_calls},
          {"make_50_percent", sites.sites_for_share[0]},
          {"make_80_percent", sites.sites_for_share[1]},
          {"make_95_percent", sites.sites_for_share[2]},
          {"top", list}};
}

Json latency_json(const Report& report) {
  static constexpr std::array<const char*, model::kCallKinds> kKinds = {"allocations", "releases",
                                                                        "reallocs"};
  Json latency;
  for (std::size_t kind = 0; kind < model::kCallKinds; ++kind) {
    const analyse::LatencyTail& tail = report.latency[kind];
    latency[kKinds[kind]] = {{"calls", tail.calls},     {"p50_ns", tail.p50_ns},
                             {"p95_ns", tail.p95_ns},   {"p99_ns", tail.p99_ns},
                             {"p999_ns", tail.p999_ns}, {"worst_ns", tail.worst_ns}};
  }
  return latency;
}

Json frames_json(const Report& report) {
  const analyse::FrameStats& stats = report.stats;
  return {{"count", stats.frames},
          {"windows", stats.windows},
          {"unfinished", stats.unfinished},
          {"duration_ms", ms(stats.frames_ns)},
          {"fps", stats.fps},
          {"wall_ms", quantiles(stats.wall, 1e-6)},
          {"work_ms", quantiles(stats.work, 1e-6)},
          {"over_budget", report.hitches.over_budget}};
}

Json allocator_json(const Report& report) {
  const analyse::FrameStats& stats = report.stats;
  return {{"per", stats.frames > 0 ? "frame" : "window"},
          {"allocations", quantiles(stats.allocs, 1)},
          {"bytes", quantiles(stats.bytes, 1)},
          {"time_ms", quantiles(stats.allocator_ns, 1e-6)},
          {"share_of_time", stats.allocator_share},
          {"allocations_to_wall", correlation_json(stats.allocs_to_wall)},
          {"allocations_to_work", correlation_json(stats.allocs_to_work)}};
}

Json overhead_json(const Report& report) {
  const analyse::Overhead& overhead = report.overhead;
  return {{"own_per_frame_ms", ms(overhead.own_per_frame_ns)},
          {"own_per_frame_max_ms", ms(overhead.own_per_frame_max_ns)},
          {"own_total_ms", ms(overhead.own_total_ns)},
          {"own_share", overhead.own_share},
          {"clock_price_ns", overhead.clock_price_ns},
          {"recorder_cpu_ms",
           overhead.recorder_cpu_ns ? Json(ms(*overhead.recorder_cpu_ns)) : Json(nullptr)},
          {"recorder_peak_bytes", overhead.recorder_peak_bytes},
          {"pool_peak_chunks", overhead.pool_peak},
          {"pool_chunks", overhead.pool_chunks}};
}

Json totals_json(const Report& report) {
  const analyse::Totals& totals = report.totals;
  return {{"exact", totals.exact && report.trace.end.has_value()},
          {"allocations", totals.allocs},
          {"releases", totals.frees},
          {"reallocs", totals.reallocs},
          {"null_releases", totals.null_frees},
          {"bytes", totals.bytes},
          {"events", totals.events},
          {"map_calls", totals.map_calls},
          {"map_bytes", totals.map_bytes},
          {"own_allocations", report.trace.own_calls.allocs},
          {"own_releases", report.trace.own_calls.frees},
          {"own_reallocs", report.trace.own_calls.reallocs}};
}

Json losses_json(const Report& report) {
  const analyse::Losses& losses = report.losses;
  std::uint64_t pauses = 0;
  for (const auto& change : report.trace.recording) pauses += change.on == 0 ? 1 : 0;
  return {{"given_up_frames", report.trace.given_up.frames},
          {"pauses", pauses},
          {"dropped_events", losses.dropped_events},
          {"nested", losses.nested},
          {"abandoned", losses.abandoned},
          {"shed_stacks", losses.shed_stacks},
          {"frames_with_losses", losses.frames_with_losses},
          {"frames_with_shed_stacks", losses.frames_with_shed_stacks},
          {"frames_without_counters", losses.frames_without_counters},
          {"late_records", losses.late_records},
          {"malformed_chunks", losses.malformed_chunks}};
}

Json heaps_json(const Report& report) {
  Json heaps = Json::array();
  for (const model::Heap& heap : report.trace.heaps) {
    heaps.push_back({{"name", printable(heap.name)},
                     {"allocations", heap.allocs},
                     {"releases", heap.frees},
                     {"bytes", heap.bytes},
                     {"live_blocks", heap.live_blocks},
                     {"live_bytes", heap.live_bytes}});
  }
  return heaps;
}

Json tags_json(const Report& report) {
  Json tags = Json::array();
  for (const auto& [text, sum] : report.trace.tags) {
    tags.push_back({{"tag", printable(report.trace.text(text))},
                    {"calls", sum.calls},
                    {"bytes", sum.bytes},
                    {"ms", ms(report.trace.clock.ns(sum.ticks))}});
  }
  return tags;
}

Json end_json(const Report& report) {
  if (!report.trace.end) return nullptr;
  return {{"reason", report.trace.end->reason},
          {"status", report.trace.end->status},
          {"ms", ms(report.trace.clock.ns(report.trace.end->time))}};
}

}  // namespace

Json site_json(const Report& report, model::SiteId id, SiteNames& names) {
  const Name& name = names.site(id);
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "0x%llx",
                static_cast<unsigned long long>(report.trace.sites[id.index()].address));
  return {{"function", name.function}, {"module", name.module},
          {"place", name.place},       {"hint", name.hint},
          {"address", address.data()}, {"op", op_name(report.trace.sites[id.index()].op)}};
}

// Innermost entry first.
Json stack_json(const Report& report, const std::optional<model::StackId>& id, SiteNames& names) {
  Json list = Json::array();
  if (!id) return list;
  const model::Stack& stack = report.trace.stacks[id->index()];
  for (std::size_t i = 0; i < stack.addresses.size(); ++i) {
    const Name& name = names.entry(stack.modules[i], stack.addresses[i]);
    list.push_back({{"function", name.function}, {"module", name.module}, {"place", name.place}});
  }
  return list;
}

void json_report(const Report& report, const std::string& file, std::size_t top, SiteNames& names,
                 std::ostream& out) {
  Json facts = Json::object();
  for (const auto& [key, value] : report.trace.meta) facts[printable(key)] = printable(value);
  Json json;
  json["schema"] = "hitchtrace-report/1";
  json["file"] = file;
  json["created_realtime_ns"] = report.trace.created_realtime_ns;
  json["facts"] = facts;
  json["warnings"] = report.trace.warnings;
  json["rules"] = {
      {"hitch_ms", report.rules.rule.least_ms},
      {"hitch_mad", report.rules.rule.mad_factor},
      {"budget_ms", report.rules.budget_ms ? Json(*report.rules.budget_ms) : Json(nullptr)}};
  json["measures"] = {{"calls_timed", report.measures.calls_timed},
                      {"releases_timed", report.measures.releases_timed},
                      {"sites_known", report.measures.sites_known},
                      {"fault_price_ns", report.measures.fault_price_ns},
                      {"fault_capture_ns", report.measures.fault_capture_ns},
                      {"fault_price_in_game", report.measures.price_in_game},
                      {"faults_seen", report.measures.faults_seen},
                      {"fault_owners_seen", report.measures.owners_seen},
                      {"switches_known", report.measures.switches_known}};
  json["frames"] = frames_json(report);
  json["allocator"] = allocator_json(report);
  json["managed_heaps"] = managed_heaps_json(report);
  json["latency"] = latency_json(report);
  json["correlations"] = correlations_json(report);
  json["hitch_groups"] = hitch_groups_json(report, names);
  json["hitches"] = hitch_list(report, report.hitches.play, top, names);
  json["hidden_by_vsync"] = hitch_list(report, report.hitches.hidden, top, names);
  json["loading"] = hitch_list(report, report.hitches.loading, top, names);
  json["windows"] = windows_json(report, top, names);
  json["call_sites"] = call_sites_json(report, top, names);
  json["contention"] = contention_json(report, names);
  json["page_faults"] = faults_json(report, top, names);
  json["lifetimes"] = lifetimes_json(report, top, names);
  json["memory"] = memory_json(report);
  json["heaps"] = heaps_json(report);
  json["tags"] = tags_json(report);
  json["totals"] = totals_json(report);
  json["overhead"] = overhead_json(report);
  json["losses"] = losses_json(report);
  json["end"] = end_json(report);
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace hitch::render
