#include "viewer/render/text_report.h"

#include <algorithm>
#include <cstdio>

#include "viewer/render/fault_text.h"
#include "viewer/render/hitch_text.h"
#include "viewer/render/lifetime_text.h"
#include "viewer/render/managed_heap_text.h"
#include "viewer/render/pattern_text.h"
#include "viewer/render/report_pieces.h"
#include "viewer/render/slow_frames_text.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::Hitch;
using analyse::Report;

std::size_t at_most(std::size_t count, std::size_t top) {
  return top == 0 ? count : std::min(count, top);
}

void write_allocator(Page& page, const Report& report) {
  const analyse::FrameStats& stats = report.stats;
  page.heading("ALLOCATOR", std::string("all threads, ") + per_frame(report));
  page.line(page.paint(Ink::kDim, row(page, "", {"median", "p99", "max"})));
  page.line(row(
      page, "allocations",
      {count_text(stats.allocs.p50), count_text(stats.allocs.p99), count_text(stats.allocs.max)}));
  page.line(
      row(page, "requested",
          {bytes_text(stats.bytes.p50), bytes_text(stats.bytes.p99), bytes_text(stats.bytes.max)}));
  if (report.measures.calls_timed) {
    page.line(row(page, "time",
                  {duration_text(stats.allocator_ns.p50), duration_text(stats.allocator_ns.p99),
                   duration_text(stats.allocator_ns.max)}));
    std::string text =
        percent_text(stats.allocator_share) +
        (stats.frames > 0 ? " of frame time is allocator time on the presenting thread"
                          : " of the time is allocator time, all threads together");
    if (!report.measures.releases_timed) text += " (releases were not timed)";
    page.wrap(2, 2, text + ".");
  } else {
    page.wrap(2, 2, "Calls were not timed: counts only.");
  }
  const std::string note = managed_heaps_text(report);
  if (!note.empty()) page.wrap(2, 4, page.paint(Ink::kYellow, "Note:") + " " + note);
}

void write_latencies(Page& page, const Report& report) {
  static constexpr const char* kKinds[] = {"allocations", "releases", "reallocs"};
  bool any = false;
  for (std::size_t kind = 0; kind < model::kCallKinds; ++kind) {
    const analyse::LatencyTail& tail = report.latency[kind];
    if (tail.calls == 0) continue;
    if (!any) {
      page.heading("LATENCY", "of one call, the price of the clock taken off");
      page.line(
          page.paint(Ink::kDim, row(page, "", {"p50", "p95", "p99", "p99.9", "worst", "calls"})));
      any = true;
    }
    page.line(
        row(page, kKinds[kind],
            {duration_text(tail.p50_ns), duration_text(tail.p95_ns), duration_text(tail.p99_ns),
             duration_text(tail.p999_ns), duration_text(tail.worst_ns), count_text(tail.calls)}));
  }
}

void write_list(Page& page, const Report& report, const std::vector<Hitch>& list,
                const std::string& title, const std::string& remark, std::size_t top,
                SiteNames& names) {
  if (list.empty()) return;
  page.heading(title, remark);
  const std::size_t shown = at_most(list.size(), top);
  for (std::size_t i = 0; i < shown; ++i) write_hitch(page, report, list[i], i + 1, names);
  if (shown < list.size()) {
    page.line();
    page.line(
        page.paint(Ink::kDim, "  " + count_text(static_cast<std::uint64_t>(list.size() - shown)) +
                                  " more: --top 0 shows all"));
  }
}

std::string rule_text(const Report& report) {
  char buffer[128];
  if (report.rules.budget_ms) {
    std::snprintf(buffer, sizeof buffer, "frames over the budget of %.2f ms",
                  *report.rules.budget_ms);
  } else {
    std::snprintf(buffer, sizeof buffer, "over the median around by > %.3g ms and > %.3g MAD",
                  report.rules.rule.least_ms, report.rules.rule.mad_factor);
  }
  return buffer;
}

void write_sites(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const analyse::CallSites& sites = report.call_sites;
  if (sites.ranked.empty()) {
    if (!report.measures.sites_known) {
      page.heading("CALL SITES");
      page.line("  not recorded at --level count");
    }
    return;
  }
  page.heading("CALL SITES", report.measures.calls_timed ? "by time in the allocator, whole run"
                                                         : "by calls, whole run");
  page.wrap(2, 2,
            count_text(static_cast<std::uint64_t>(sites.sites_for_share[0])) + ", " +
                count_text(static_cast<std::uint64_t>(sites.sites_for_share[1])) + " and " +
                count_text(static_cast<std::uint64_t>(sites.sites_for_share[2])) + " of " +
                plural(sites.ranked.size(), "call site makes", "call sites make") +
                " 50, 80 and 95 % of " +
                (report.measures.calls_timed ? "the allocator time." : "the calls."));
  page.line(site_table_head(page, report));
  const std::size_t shown = at_most(sites.ranked.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    page.line(site_row(page, report, sites.ranked[i], names));
    const std::string callers = callers_row(page, report, sites.ranked[i], names);
    if (!callers.empty()) page.line(callers);
  }
}

void write_tags(Page& page, const Report& report) {
  if (report.trace.tags.empty()) return;
  page.heading("TAGS", "set by the game, innermost one, whole run");
  std::vector<std::pair<std::uint64_t, model::TagTotals>> tags(report.trace.tags.begin(),
                                                               report.trace.tags.end());
  std::stable_sort(tags.begin(), tags.end(),
                   [](const auto& a, const auto& b) { return a.second.ticks > b.second.ticks; });
  for (const auto& [text, sum] : tags) {
    const std::string numbers = pad_left(duration_text(report.trace.clock.ns(sum.ticks)), 11) +
                                pad_left(count_text(sum.calls), 12) + " calls" +
                                pad_left(bytes_text(static_cast<double>(sum.bytes)), 12) + "  ";
    page.line(numbers +
              fit(printable(report.trace.text(text)), page.width() - columns_of(numbers)));
  }
}

void write_totals(Page& page, const Report& report) {
  const analyse::Totals& totals = report.totals;
  page.heading("RUN");
  std::string text = plural(totals.allocs, "allocation", "allocations") + " of " +
                     bytes_text(static_cast<double>(totals.bytes)) + ", " +
                     plural(totals.frees, "release", "releases") + ", " +
                     plural(totals.reallocs, "realloc", "reallocs");
  if (totals.map_calls > 0) {
    text += "; the game itself called mmap and its kin " + count_text(totals.map_calls) + " times";
  }
  page.wrap(2, 2,
            text + (totals.exact && report.trace.end ? "." : " (in the frames that were read)."));
  if (report.stats.frames > 0 && report.stats.windows > 0) {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < report.trace.frames.size(); ++i) {
      if (report.trace.frames[i].kind != model::FrameKind::kWindow) continue;
      before += analyse::sums_of(report.trace, model::FrameId(i)).allocs;
    }
    page.wrap(2, 4,
              "Before the first present: " + duration_text(report.stats.windows_ns) + ", " +
                  plural(before, "allocation", "allocations") + ".");
  }
  if (!report.trace.frames.empty()) {
    const model::Frame& last = report.trace.frames.back();
    page.wrap(2, 2,
              "Live at the end: " + plural(last.live_blocks, "block", "blocks") + ", " +
                  bytes_text(static_cast<double>(last.live_bytes)) + " requested.");
  }
  for (const model::Heap& heap : report.trace.heaps) {
    page.wrap(2, 4,
              "Heap " + printable(heap.name) + ": " +
                  plural(heap.allocs, "allocation", "allocations") + " of " +
                  bytes_text(static_cast<double>(heap.bytes)) + ", " +
                  plural(heap.frees, "release", "releases") +
                  "; its blocks lie inside memory that is counted already.");
  }
  const model::GivenUp& given_up = report.trace.given_up;
  if (given_up.frames > 0) {
    page.wrap(2, 4,
              "The first " + plural(given_up.frames, "frame", "frames") + " (" +
                  duration_text(report.trace.clock.ns(given_up.ticks)) +
                  ") were given up to keep the file within --max-file: all above is about the "
                  "frames since, the counts of this section are of the whole run. Hitches of "
                  "before are in the log beside the trace.");
  }
  std::uint64_t pauses = 0;
  for (const auto& change : report.trace.recording) pauses += change.on == 0 ? 1 : 0;
  if (pauses > 0) {
    page.wrap(2, 4,
              "Recording was paused " + (pauses == 1 ? "once" : count_text(pauses) + " times") +
                  ": the frames in between are not here, the counts of this section are of the "
                  "whole run.");
  }
  page.wrap(2, 4, recording_cost(report));
  const std::string stacks = stack_quality_text(report);
  if (!stacks.empty()) page.wrap(2, 4, stacks);
  const std::string losses = losses_text(report);
  page.wrap(2, 4, losses.empty() ? "No event was lost." : page.paint(Ink::kYellow, losses));
  page.wrap(2, 4, fault_source_text(report));
  page.wrap(2, 4,
            "Estimates: " +
                (report.measures.fault_price_ns > 0
                     ? "page-fault time outside of allocator calls (count x " +
                           duration_text(report.measures.fault_price_ns) + ", measured " +
                           (report.measures.price_in_game ? "in the game)" : "at start)")
                     : std::string("page-fault time (no price was measured: counts only)")) +
                " and the recording's own cost. The rest is measured.");
  std::string machine = printable(report.trace.fact("machine.cpu"));
  for (const char* key : {"machine.kernel", "game.allocator", "game.driver"}) {
    const std::string fact = printable(report.trace.fact(key));
    if (!fact.empty()) machine += (machine.empty() ? "" : "; ") + fact;
  }
  if (!machine.empty()) page.wrap(2, 4, machine + ".");
  if (!report.trace.end) {
    page.wrap(2, 4,
              page.paint(Ink::kYellow, "The recording has no end") +
                  ": the recorder was stopped before the game; everything up to then is here.");
  } else if (report.trace.end->reason == 2) {
    page.wrap(2, 4,
              "The game was killed by signal " + std::to_string(report.trace.end->status) + ".");
  } else if (report.trace.end->reason == 6) {
    page.wrap(2, 4,
              page.paint(Ink::kYellow, "There was no more room for the trace") +
                  " (the disk, or --max-file): the recording stops there.");
  }
}

}  // namespace

std::string text_report(const Report& report, const std::string& file, Style style, std::size_t top,
                        SiteNames& names) {
  style.width = std::max(style.width, kMinWidth);
  Page page(style);
  write_title(page, report, file);
  page.line();
  write_answer(page, report, names);
  write_frame_times(page, report);
  if (!report.trace.frames.empty()) {
    write_allocator(page, report);
    write_latencies(page, report);
  }
  write_slow_frames(page, report);
  write_hitch_groups(page, report, top, names);
  write_list(page, report, report.hitches.play, "HITCHES", rule_text(report), top, names);
  write_list(page, report, report.hitches.hidden, "HIDDEN BY VSYNC",
             "work grew, the picture was still in time", top, names);
  write_list(page, report, report.hitches.loading, "WHILE LOADING",
             "few presents or many file reads: not play", top, names);
  if (!report.windows.empty()) {
    page.heading("WINDOWS", "pseudo-frames, dearest first");
    for (std::size_t i = 0; i < at_most(report.windows.size(), top); ++i) {
      write_window(page, report, report.windows[i], i + 1, names);
    }
  }
  write_sites(page, report, top, names);
  write_contention(page, report, top, names);
  write_faults(page, report, top, names);
  write_lifetimes(page, report, top, names);
  write_tags(page, report);
  write_totals(page, report);
  return page.text();
}

}  // namespace hitch::render
