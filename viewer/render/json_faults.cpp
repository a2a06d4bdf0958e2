// Page faults and threads' time as JSON; the keys are described in report_schema.md.
#include "viewer/render/cause_text.h"
#include "viewer/render/fault_text.h"
#include "viewer/render/json_pieces.h"

namespace hitch::render {

using analyse::FaultGroup;
using analyse::Hitch;
using analyse::Report;

namespace {

constexpr double kMs = 1e-6;

const char* owner_key(format::FaultOwner owner) {
  static constexpr std::array<const char*, format::kFaultOwners> kKeys = {
      "block", "allocator", "stack", "file", "module", "shim", "mapping", "unknown"};
  return kKeys[static_cast<std::size_t>(owner)];
}

const char* kind_key(format::FaultKind kind) {
  static constexpr std::array<const char*, format::kFaultKinds> kKeys = {
      "first_touch", "recycled", "again", "copy_on_write", "major", "huge_page"};
  return kKeys[static_cast<std::size_t>(kind)];
}

Json group_json(const Report& report, const FaultGroup& group, SiteNames& names) {
  const model::Trace& trace = report.trace;
  Json site = nullptr;
  Json file = nullptr;
  switch (group.owner) {
    case format::FaultOwner::kBlock:
    case format::FaultOwner::kAllocator:
      site = site_json(report, model::SiteId(static_cast<std::size_t>(group.id)), names);
      break;
    case format::FaultOwner::kMapping:
      if (group.id != 0)
        site = site_json(report, model::SiteId(static_cast<std::size_t>(group.id - 1)), names);
      break;
    case format::FaultOwner::kFile:
      file = printable(trace.text(group.id));
      break;
    case format::FaultOwner::kModule:
      file = printable(trace.modules[static_cast<std::size_t>(group.id)].path);
      break;
    default:
      break;
  }
  return {{"owner", owner_key(group.owner)},
          {"site", site},
          {"file", file},
          {"kind", kind_key(group.kind())},
          {"faults", group.faults},
          {"call_faults", group.call_faults},
          {"waited_faults", group.waited_faults},
          {"bytes", group.bytes},
          {"est_ms", group.est_ns * kMs},
          {"mean_age_frames", group.mean_age_frames},
          {"touched_by", group.place ? Json(names.place(*group.place).function) : Json(nullptr)},
          {"thread", group.thread ? Json(names.thread(*group.thread)) : Json(nullptr)}};
}

Json group_list(const Report& report, const std::vector<FaultGroup>& groups, std::size_t top,
                SiteNames& names) {
  Json list = Json::array();
  for (const FaultGroup& group : groups) {
    if (top != 0 && list.size() == top) break;
    list.push_back(group_json(report, group, names));
  }
  return list;
}

Json prices_json(const Report& report) {
  static constexpr std::array<const char*, format::kFaultPriceClasses> kKeys = {
      "fresh_page", "file_pages", "copied_page", "huge_page"};
  Json list = Json::array();
  for (const auto& [key, price] : report.trace.fault_prices) {
    list.push_back({{"of", kKeys[static_cast<std::size_t>(key.first)]},
                    {"measured", key.second == 1 ? "in_game" : "at_start"},
                    {"faults", price.faults},
                    {"median_ns", static_cast<double>(price.picoseconds) / 1e3},
                    {"p10_ns", static_cast<double>(price.low_picoseconds) / 1e3},
                    {"p90_ns", static_cast<double>(price.high_picoseconds) / 1e3},
                    {"capture_ns", static_cast<double>(price.capture_picoseconds) / 1e3},
                    {"outside_ns", static_cast<double>(price.outside_picoseconds) / 1e3}});
  }
  return list;
}

}  // namespace

Json faults_json(const Report& report, std::size_t top, SiteNames& names) {
  const analyse::FaultTotals& totals = report.fault_totals;
  Json churn = Json::array();
  for (const analyse::Churn& site : report.churn) {
    if (top != 0 && churn.size() == top) break;
    Json json = site_json(report, site.site, names);
    json["allocations"] = site.allocs;
    json["munmaps"] = site.unmaps;
    json["faults"] = site.faults;
    json["est_ms"] = site.est_ns * kMs;
    churn.push_back(std::move(json));
  }
  return {{"source", report.trace.fact("faults.source", "getrusage")},
          {"note", printable(report.trace.fact("faults.note"))},
          {"seen", totals.seen},
          {"in_allocator_calls", totals.in_calls},
          {"seen_in_system_calls", totals.in_system_calls},
          {"presenting_counted", totals.counted},
          {"presenting_seen", totals.seen_in_those},
          {"own", totals.own},
          {"own_at_start", totals.own_at_start},
          {"own_later_of_one_thread", totals.most_own_later},
          {"lost", totals.lost},
          {"owners", group_list(report, report.fault_owners, top, names)},
          {"churn", churn},
          {"prices", prices_json(report)}};
}

Json hitch_faults_json(const Report& report, const Hitch& hitch, std::size_t top,
                       SiteNames& names) {
  return {{"seen", hitch.faults.seen},
          {"unseen", hitch.faults.unseen},
          {"own", group_list(report, hitch.faults.own, top, names)},
          {"others", group_list(report, hitch.faults.others, top, names)}};
}

Json threads_json(const Report& report, model::FrameId frame, SiteNames& names) {
  Json list = Json::array();
  for (const model::FrameThread& row : report.trace.threads_of(frame)) {
    const analyse::ThreadBalance balance =
        analyse::thread_balance_of(report.trace, row, report.measures);
    list.push_back({{"thread", names.thread(row.thread)},
                    {"allocator_ms", balance.allocator * kMs},
                    {"off_cpu_ms", balance.off_cpu * kMs},
                    {"preempted_ms", balance.preempted * kMs},
                    {"page_faults_est_ms", balance.faults * kMs},
                    {"rest_ms", balance.rest * kMs},
                    {"faults", row.faults},
                    {"faults_in_allocator_est_ms", balance.faults_in_allocator * kMs},
                    {"off_cpu_in_allocator_ms", balance.blocked_in_allocator * kMs},
                    {"blocked_calls", row.blocked_calls},
                    {"overlapped_calls", row.overlap_calls},
                    {"contention_ms",
                     report.trace.clock.ns(row.overlap_ticks -
                                           std::min(row.overlap_ticks, row.overlap_usual_ticks)) *
                         kMs}});
  }
  return list;
}

Json contention_json(const Report& report, SiteNames& names) {
  Json list = Json::array();
  for (const analyse::ThreadContention& thread : report.contention) {
    list.push_back({{"thread", names.thread(thread.thread)},
                    {"blocked_calls", thread.blocked_calls},
                    {"blocked_ms", thread.blocked_ns * kMs},
                    {"preempted_ms", thread.preempted_ns * kMs},
                    {"overlapped_calls", thread.overlap_calls},
                    {"overlap_ms", thread.overlap_ns * kMs},
                    {"allocator_ms", thread.allocator_ns * kMs}});
  }
  return list;
}

Json code_json(const Report& report, model::FrameId frame, std::size_t top, SiteNames& names) {
  std::vector<model::CodeSample> rows(report.trace.samples_of(frame).begin(),
                                      report.trace.samples_of(frame).end());
  std::stable_sort(
      rows.begin(), rows.end(),
      [](const model::CodeSample& a, const model::CodeSample& b) { return a.samples > b.samples; });
  Json list = Json::array();
  for (const model::CodeSample& row : rows) {
    if (top != 0 && list.size() == top) break;
    const Name& name = names.place(row.place);
    list.push_back({{"thread", names.thread(row.thread)},
                    {"function", name.function},
                    {"module", name.module},
                    {"samples", row.samples}});
  }
  return list;
}

}  // namespace hitch::render
