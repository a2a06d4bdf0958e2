#include "viewer/render/report_pieces.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "viewer/render/cause_text.h"
#include "viewer/render/sparkline.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::Hitch;
using analyse::Quantiles;
using analyse::Report;

constexpr std::size_t kLabel = 14;

// The call site with the largest sum of excess over the hitches looked at, and its share of the
// sites' excess there.
std::string who_text(const Report& report, SiteNames& names) {
  std::map<model::SiteId, double> excess;
  double all = 0;
  for (const Hitch& hitch : report.hitches.play) {
    const auto found = report.hitch_sites.find(hitch.frame);
    if (found == report.hitch_sites.end()) continue;
    for (const analyse::HitchSite& site : found->second) {
      if (site.excess_ns <= 0) continue;
      excess[site.work.site] += site.excess_ns;
      all += site.excess_ns;
    }
  }
  const auto most =
      std::max_element(excess.begin(), excess.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == excess.end() || all < 0.2e6) return "";
  const Name& name = names.site(most->first);
  return name.function + (name.place.empty() ? "" : " (" + name.place + ")") + ", " +
         duration_text(most->second) + " or " + percent_text(most->second / all) +
         " of the extra allocator time in hitches";
}

void write_no_frames(Page& page, const Report& report) {
  if (report.trace.frames.empty()) {
    page.wrap(0, 0,
              report.totals.allocs + report.totals.frees + report.totals.reallocs == 0
                  ? "The recording holds no frames and no allocator calls: the game ended before "
                    "it allocated anything through the library."
                  : "The recording holds no frames: it ended before the first one was complete.");
    return;
  }
  page.wrap(0, 0,
            page.paint(Ink::kBold, "No present call was seen: no frame times, no hitches.") +
                " What follows is for " + plural(report.stats.windows, "window", "windows") +
                " of fixed length (pseudo-frames), ranked by time in the allocator and in page "
                "faults.");
}

}  // namespace

std::string row(const Page& page, const std::string& label, const std::vector<std::string>& cells) {
  const std::size_t column = page.width() >= 76 ? 10 : 9;
  std::string text = "  " + pad_right(label, kLabel);
  for (const std::string& cell : cells) text += pad_left(cell, column);
  return text;
}

const char* per_frame(const Report& report) {
  return report.stats.frames > 0 ? "a frame" : "a window";
}

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return count_text(count) + " " + (count == 1 ? one : many);
}

void write_title(Page& page, const Report& report, const std::string& file) {
  const model::Trace& trace = report.trace;
  const std::string game = printable(file_name(trace.fact("game.exe", "unknown game")));
  std::string facts = duration_text(report.end_ns);
  const std::string date = date_text(trace.created_realtime_ns);
  if (!date.empty()) facts += ", " + date;
  const std::string left = game + "  " + facts;
  const std::size_t room =
      page.width() > columns_of(left) + 3 ? page.width() - columns_of(left) - 3 : 0;
  std::string right = room >= 16 ? fit(printable(file_name(file)), room) : "";
  std::string gap(
      page.width() - std::min<std::size_t>(page.width(), columns_of(left) + columns_of(right)),
      ' ');
  page.line(page.paint(Ink::kBold, game) + "  " + facts + gap + page.paint(Ink::kDim, right));
}

void write_answer(Page& page, const Report& report, SiteNames& names) {
  const analyse::FrameStats& stats = report.stats;
  if (stats.frames == 0) {
    write_no_frames(page, report);
    return;
  }
  const std::vector<Hitch>& play = report.hitches.play;
  double lost = 0;
  for (const Hitch& hitch : play) {
    lost += std::max(0.0, report.rules.budget_ms ? hitch.over_budget_ns : hitch.wall_excess_ns);
  }
  std::string text =
      plural(play.size(), "hitch", "hitches") + " in " + plural(stats.frames, "frame", "frames");
  if (play.empty()) {
    text = page.paint(Ink::kGreen,
                      "No " + std::string("hitch in ") + plural(stats.frames, "frame", "frames"));
  } else {
    text = page.paint(Ink::kBold, text) + " (" +
           percent_text(static_cast<double>(play.size()) / static_cast<double>(stats.frames)) +
           ", " + duration_text(lost) + (report.rules.budget_ms ? " over budget" : " lost") +
           "): " + verdict_counts(play);
  }
  page.wrap(0, 2, text + ".");
  std::string apart;
  if (!report.hitches.hidden.empty()) {
    apart += count_text(static_cast<std::uint64_t>(report.hitches.hidden.size())) +
             " more hidden by vsync or limiter";
  }
  if (!report.hitches.loading.empty()) {
    apart += (apart.empty() ? "" : ", ") +
             count_text(static_cast<std::uint64_t>(report.hitches.loading.size())) +
             " while loading";
  }
  if (!apart.empty()) page.wrap(0, 2, "Apart from those: " + apart + ".");
  if (!play.empty()) {
    const Hitch& worst = play.front();
    const model::Frame& frame = report.trace.frames[worst.frame.index()];
    page.wrap(0, 2,
              "Worst: frame " + count_text(frame.picture) + " at " +
                  duration_text(report.trace.clock.ns(frame.begin)) + " took " +
                  duration_text(worst.balance.wall) + ", usually " +
                  duration_text(worst.usual.wall) + ": " + cause_sentence(report, worst, names) +
                  ".");
    const std::string who = who_text(report, names);
    if (!who.empty()) page.wrap(0, 2, "Who: " + who + ".");
  }
}

void write_frame_times(Page& page, const Report& report) {
  const analyse::FrameStats& stats = report.stats;
  if (stats.frames == 0) return;
  char buffer[96];
  std::uint8_t api = 0;
  for (const model::Frame& frame : report.trace.frames) {
    if (frame.kind == model::FrameKind::kPresent) api = frame.api;
  }
  std::snprintf(buffer, sizeof buffer, "%s in %s, %.1f fps, found through %s",
                plural(stats.frames, "frame", "frames").c_str(),
                duration_text(stats.frames_ns).c_str(), stats.fps, api_name(api));
  page.heading("FRAMES", buffer);
  page.line(page.paint(Ink::kDim, row(page, "ms", {"p50", "p95", "p99", "p99.9", "max"})));
  const auto cells = [](const Quantiles& q) {
    return std::vector<std::string>{ms_text(q.p50), ms_text(q.p95), ms_text(q.p99), ms_text(q.p999),
                                    ms_text(q.max)};
  };
  page.line(row(page, "frame time", cells(stats.wall)));
  page.line(row(page, "work", cells(stats.work)));
  const Sparkline bars = sparkline_of(report, page, page.width() - 2);
  page.line("  " + bars.bars);
  if (!bars.marks.empty()) page.line("  " + page.paint(Ink::kRed, bars.marks));
  page.line(page.paint(
      Ink::kDim, fit("  longest frame of each stretch, full = " + duration_text(bars.full_ns) +
                         "; ^ hitch, v hidden, l loading",
                     page.width())));
}

std::string recording_cost(const Report& report) {
  const analyse::Overhead& overhead = report.overhead;
  std::string text = "Recording cost: est. ";
  if (report.stats.frames > 0) {
    text += duration_text(overhead.own_per_frame_ns) + " a frame (" +
            percent_text(overhead.own_share) + " of frame time), ";
  }
  text += duration_text(overhead.own_total_ns) + " over the run";
  if (overhead.clock_price_ns > 0) {
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "; one clock read %.1f ns", overhead.clock_price_ns);
    text += buffer;
  }
  if (overhead.recorder_cpu_ns) {
    text += "; recorder " + duration_text(*overhead.recorder_cpu_ns) + " CPU";
  }
  if (overhead.pool_chunks > 0) {
    text += "; buffer at most " +
            percent_text(static_cast<double>(overhead.pool_peak) /
                         static_cast<double>(overhead.pool_chunks)) +
            " full";
  }
  return text + ".";
}

std::string losses_text(const Report& report) {
  const analyse::Losses& losses = report.losses;
  std::string text;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) text += (text.empty() ? "" : ", ") + plural(count, one, many);
  };
  add(losses.dropped_events, "event was counted but not recorded one by one",
      "events were counted but not recorded one by one");
  add(losses.frames_with_losses, "frame has such gaps", "frames have such gaps");
  add(losses.shed_stacks, "callstack was left out", "callstacks were left out");
  add(losses.malformed_chunks, "buffer chunk made no sense", "buffer chunks made no sense");
  return text.empty() ? "" : text + " (sums stay exact).";
}

std::string site_table_head(const Page& page, const Report& report) {
  std::string text = "  ";
  if (report.measures.calls_timed) text += pad_left("time", 9) + pad_left("share", 8);
  text += pad_left("calls", 12) + pad_left(per_frame(report), 9) + pad_left("bytes", 10);
  if (page.width() >= 110 && report.measures.calls_timed) text += pad_left("slowest", 10);
  return page.paint(Ink::kDim, text + "  function");
}

std::string site_row(const Page& page, const Report& report, model::SiteId site, SiteNames& names) {
  const model::SiteTotals& sum = report.trace.site_totals[site.index()];
  const auto frames = static_cast<double>(report.trace.frames.size());
  std::string text = "  ";
  if (report.measures.calls_timed) {
    const double ns = report.trace.clock.ns(sum.ticks);
    text +=
        pad_left(duration_text(ns), 9) +
        pad_left(percent_text(report.call_sites.total_ns > 0 ? ns / report.call_sites.total_ns : 0),
                 8);
  }
  text += pad_left(count_text(sum.calls()), 12) +
          pad_left(count_text(frames > 0 ? static_cast<double>(sum.calls()) / frames : 0), 9) +
          pad_left(bytes_text(static_cast<double>(sum.bytes)), 10);
  if (page.width() >= 110 && report.measures.calls_timed) {
    text += pad_left(duration_text(report.trace.clock.ns(sum.slowest_ticks)), 10);
  }
  text += "  ";
  const Name& name = names.site(site);
  std::string function = name.function;
  const std::size_t room = page.width() - columns_of(text);
  // The hint helps with names that say little, and is the first to go when room is short.
  if (!name.hint.empty() && columns_of(function) + columns_of(name.hint) + 3 <= room) {
    function += " (" + name.hint + ")";
  }
  if (!name.place.empty() && columns_of(function) + columns_of(name.place) + 3 <= room) {
    function += " (" + name.place + ")";
  }
  return text + fit(function, room);
}

std::string callers_row(const Page& page, const Report& report, model::SiteId site,
                        SiteNames& names) {
  const model::Site& what = report.trace.sites[site.index()];
  std::string head = "             < ";
  std::string tail;
  if (what.stacks > 1) tail = "  (" + plural(what.stacks, "stack", "stacks") + ")";
  const std::size_t used = columns_of(head) + columns_of(tail);
  const std::string callers = names.callers(site, page.width() > used ? page.width() - used : 0);
  return callers.empty() ? "" : page.paint(Ink::kDim, head + callers + tail);
}

std::string stack_quality_text(const Report& report) {
  const model::StackQuality& quality = report.trace.stack_quality;
  if (quality.calls == 0) return "";
  const auto share = [&](std::uint64_t calls) {
    return percent_text(static_cast<double>(calls) / static_cast<double>(quality.calls));
  };
  std::string text;
  if (quality.truncated_calls > 0) {
    text = share(quality.truncated_calls) +
           " of the allocations have a callstack that ends early, for want of unwind information";
    const auto most =
        std::max_element(quality.truncated_in.begin(), quality.truncated_in.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != quality.truncated_in.end() && most->first.index() < report.trace.modules.size())
      text += ", mostly in " + file_name(report.trace.modules[most->first.index()].path);
    text += ".";
  }
  if (quality.cut_calls > 0) {
    text += (text.empty() ? "" : " ") + share(quality.cut_calls) +
            " of the allocations have a callstack deeper than was kept (--stack-depth).";
  }
  return text;
}

}  // namespace hitch::render
