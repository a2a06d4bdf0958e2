#include "viewer/render/lifetime_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::Lifetimes;
using analyse::Report;
using analyse::SiteLifetimes;

double share_of(std::uint64_t part, std::uint64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

// "+1.2 MiB", "-340 KiB".
std::string signed_bytes(double bytes) {
  return (bytes < 0 ? "-" : "+") + bytes_text(bytes < 0 ? -bytes : bytes);
}

// Call sites that `weight` does not put at 0, heaviest first.
template <class Weight>
std::vector<model::SiteId> ranked(const Lifetimes& lifetimes, Weight weight) {
  std::vector<std::pair<double, model::SiteId>> order;
  for (std::size_t i = 0; i < lifetimes.sites.size(); ++i) {
    const double w = weight(lifetimes.sites[i]);
    if (w > 0) order.emplace_back(w, model::SiteId(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<model::SiteId> sites;
  sites.reserve(order.size());
  for (const auto& [w, site] : order) sites.push_back(site);
  return sites;
}

// A row of numbers, the site's name, and below it who called.
void write_site(Page& page, const Report& report, model::SiteId site, const std::string& numbers,
                SiteNames& names) {
  page.line(numbers + "  " +
            fit(names.site(site).function,
                page.width() - std::min(page.width(), columns_of(numbers) + 2)));
  const std::string callers = callers_row(page, report, site, names);
  if (!callers.empty()) page.line(callers);
}

void write_more(Page& page, std::size_t shown, std::size_t all) {
  if (shown >= all) return;
  page.line(page.paint(Ink::kDim, "  " + count_text(static_cast<std::uint64_t>(all - shown)) +
                                      " more: --top 0 shows all"));
}

std::size_t at_most(std::size_t count, std::size_t top) {
  return top == 0 ? count : std::min(count, top);
}

void write_temporary(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const Lifetimes& lifetimes = *report.lifetimes;
  std::uint64_t temporary = 0;
  std::uint64_t born = 0;
  double ticks = 0;
  double all_ticks = 0;
  // What share of a site's time its temporary blocks take is not recorded: by their number.
  const auto temporary_ticks = [](const SiteLifetimes& site) {
    return static_cast<double>(site.alloc_ticks + site.free_ticks) *
           share_of(site.temporary, site.born);
  };
  for (const SiteLifetimes& site : lifetimes.sites) {
    temporary += site.temporary;
    born += site.born;
    ticks += temporary_ticks(site);
    all_ticks += static_cast<double>(site.alloc_ticks + site.free_ticks);
  }
  const std::string frame = report.stats.frames > 0 ? "frame" : "window";
  page.heading("TEMPORARY ALLOCATIONS", "released in their " + frame + " by their thread");
  if (temporary == 0) {
    page.wrap(2, 2, "None.");
    return;
  }
  std::string text = percent_text(share_of(temporary, born)) + " of all allocations";
  if (report.measures.calls_timed && all_ticks > 0)
    text += ", " + percent_text(ticks / all_ticks) + " of the allocator time";
  page.wrap(2, 2,
            text + ": what an arena for each " + frame + ", or a buffer that is kept, saves.");
  const bool timed = report.measures.calls_timed;
  const std::vector<model::SiteId> sites = ranked(lifetimes, [&](const SiteLifetimes& site) {
    return site.temporary * 10 >= site.born * 9
               ? (timed ? temporary_ticks(site) : static_cast<double>(site.temporary))
               : 0;
  });
  page.line(page.paint(Ink::kDim, "  " + (timed ? pad_left("time", 9) : std::string()) +
                                      pad_left("calls", 12) + pad_left(per_frame(report), 9) +
                                      pad_left("bytes each", 12) + pad_left("LIFO", 8) +
                                      "  function"));
  const auto frames = static_cast<double>(report.trace.frames.size());
  const std::size_t shown = at_most(sites.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteLifetimes& site = lifetimes.sites[sites[i].index()];
    std::string numbers = "  ";
    if (timed) {
      numbers += pad_left(
          duration_text(report.trace.clock.ns(static_cast<std::uint64_t>(temporary_ticks(site)))),
          9);
    }
    numbers +=
        pad_left(count_text(site.temporary), 12) +
        pad_left(count_text(frames > 0 ? static_cast<double>(site.temporary) / frames : 0), 9) +
        pad_left(bytes_text(static_cast<double>(site.temporary_bytes) /
                            static_cast<double>(site.temporary)),
                 12) +
        pad_left(percent_text(share_of(site.died_last, site.died)), 8);
    write_site(page, report, sites[i], numbers, names);
  }
  write_more(page, shown, sites.size());
}

// 0, 1, 2-3, 4-7, ... frames put together into what people ask for.
struct Span {
  const char* name;
  std::size_t first;
  std::size_t last;
};
constexpr std::array<Span, 6> kSpans = {Span{"same", 0, 0},   Span{"next", 1, 1},
                                        Span{"2-3", 2, 2},    Span{"4-15", 3, 4},
                                        Span{"16-255", 5, 8}, Span{"longer", 9, 15}};

std::uint64_t in_span(const std::array<std::uint64_t, analyse::kLifetimeBuckets>& lifetimes,
                      const Span& span) {
  std::uint64_t sum = 0;
  for (std::size_t i = span.first; i <= span.last; ++i) sum += lifetimes[i];
  return sum;
}

void write_histogram(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const Lifetimes& lifetimes = *report.lifetimes;
  const std::string frames = report.stats.frames > 0 ? "frames" : "windows";
  page.heading("LIFETIMES", "in " + frames + ", of the blocks seen from birth to death");
  std::string head = "  " + pad_left("", 20);
  std::string all = "  " + pad_left(count_text(lifetimes.born) + " blocks", 20);
  for (const Span& span : kSpans) {
    head += pad_left(span.name, 8);
    all += pad_left(percent_text(share_of(in_span(lifetimes.lifetimes, span), lifetimes.born)), 8);
  }
  page.line(page.paint(Ink::kDim, head + pad_left("live", 8)));
  page.line(all + pad_left(percent_text(share_of(lifetimes.live, lifetimes.born)), 8));
  page.line();
  page.line(page.paint(Ink::kDim, "  Sites that hold most at their peak:"));
  page.line(page.paint(Ink::kDim, "  " + pad_left("peak", 10) + pad_left("blocks", 10) +
                                      pad_left("same", 7) + pad_left("1-15", 7) +
                                      pad_left("16-255", 8) + pad_left("longer", 8) +
                                      pad_left("live", 7) + "  function"));
  const std::vector<model::SiteId> sites = ranked(
      lifetimes, [](const SiteLifetimes& site) { return static_cast<double>(site.peak_bytes); });
  const std::size_t shown = at_most(sites.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteLifetimes& site = lifetimes.sites[sites[i].index()];
    const auto part = [&](std::size_t first, std::size_t last) {
      return percent_text(share_of(in_span(site.lifetimes, {"", first, last}), site.born));
    };
    write_site(page, report, sites[i],
               "  " + pad_left(bytes_text(static_cast<double>(site.peak_bytes)), 10) +
                   pad_left(count_text(site.peak_live), 10) + pad_left(part(0, 0), 7) +
                   pad_left(part(1, 4), 7) + pad_left(part(5, 8), 8) + pad_left(part(9, 15), 8) +
                   pad_left(percent_text(share_of(site.live, site.born)), 7),
               names);
  }
  write_more(page, shown, sites.size());
}

void write_growth(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const Lifetimes& lifetimes = *report.lifetimes;
  page.heading("GROWTH AND LEAKS", "blocks allocated in the recording and never released in it");
  if (!lifetimes.complete()) {
    page.wrap(2, 2,
              "Not told: releases may be among the events that are not in the file. Record with "
              "--keep all, without --max-file, to find leaks.");
    return;
  }
  page.wrap(2, 2,
            plural(lifetimes.live, "block", "blocks") + " of " +
                bytes_text(static_cast<double>(lifetimes.live_bytes)) +
                " live at the end. Growing: more bytes at nearly every step of the second half.");
  std::vector<model::SiteId> sites = ranked(
      lifetimes, [](const SiteLifetimes& site) { return static_cast<double>(site.live_bytes); });
  std::stable_sort(sites.begin(), sites.end(), [&](model::SiteId a, model::SiteId b) {
    return lifetimes.sites[a.index()].growth_per_minute >
           lifetimes.sites[b.index()].growth_per_minute;
  });
  if (sites.empty()) return;
  page.line(page.paint(Ink::kDim, "  " + pad_left("live", 10) + pad_left("blocks", 10) +
                                      pad_left("of born", 9) + pad_left("growth/min", 13) +
                                      pad_left("pages", 8) + "  function"));
  const std::size_t shown = at_most(sites.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteLifetimes& site = lifetimes.sites[sites[i].index()];
    const std::string growth =
        site.growth_per_minute > 0 ? signed_bytes(site.growth_per_minute) : "-";
    write_site(page, report, sites[i],
               "  " + pad_left(bytes_text(static_cast<double>(site.live_bytes)), 10) +
                   pad_left(count_text(site.live), 10) +
                   pad_left(percent_text(share_of(site.live, site.born)), 9) +
                   pad_left(growth, 13) + pad_left(count_text(site.pages), 8),
               names);
  }
  write_more(page, shown, sites.size());
}

void write_drift(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const Lifetimes& lifetimes = *report.lifetimes;
  page.heading("LATENCY DRIFT", "allocations near the end against those near the start");
  if (!report.measures.calls_timed) {
    page.wrap(2, 2, "Not told: calls were not timed.");
    return;
  }
  if (lifetimes.drift_window_ns == 0) {
    page.wrap(2, 2, "Not told: the recording is shorter than eight seconds.");
    return;
  }
  constexpr double kLeastRatio = 1.25;
  constexpr double kLeastNs = 20;  // kept durations are in steps of about 4 ns
  const std::vector<model::SiteId> sites = ranked(lifetimes, [](const SiteLifetimes& site) {
    if (!site.drift) return 0.0;
    const analyse::Drift& drift = *site.drift;
    const bool slower = drift.ratio() >= kLeastRatio &&
                        drift.last_median_ns - drift.first_median_ns >= kLeastNs &&
                        drift.last_mean_ns > drift.first_mean_ns;
    return slower ? (drift.last_median_ns - drift.first_median_ns) *
                        static_cast<double>(drift.last_calls)
                  : 0.0;
  });
  const std::string window = duration_text(lifetimes.drift_window_ns);
  if (sites.empty()) {
    page.wrap(2, 2, "No call site became slower from the first " + window + " to the last.");
    return;
  }
  page.wrap(2, 2, "Of one call: first " + window + " and last " + window + ".");
  page.line(page.paint(Ink::kDim, "  " + pad_left("ratio", 7) + pad_left("median first", 14) +
                                      pad_left("last", 10) + pad_left("mean first", 12) +
                                      pad_left("last", 10) + "  function"));
  const std::size_t shown = at_most(sites.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const analyse::Drift& drift = *lifetimes.sites[sites[i].index()].drift;
    write_site(page, report, sites[i],
               "  " + pad_left(times_text(drift.ratio()), 7) +
                   pad_left(duration_text(drift.first_median_ns), 14) +
                   pad_left(duration_text(drift.last_median_ns), 10) +
                   pad_left(duration_text(drift.first_mean_ns), 12) +
                   pad_left(duration_text(drift.last_mean_ns), 10),
               names);
  }
  write_more(page, shown, sites.size());
}

void write_what_is_missing(Page& page, const Lifetimes& lifetimes) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) text += (text.empty() ? "" : "; ") + plural(count, one, many);
  };
  add(lifetimes.stream.skipped, "event was left out on purpose (no hitch near, or paused)",
      "events were left out on purpose (no hitch near, or paused)");
  add(lifetimes.stream.given_up, "event was given up to keep the file small",
      "events were given up to keep the file small");
  add(lifetimes.stream.missing, "event is missing", "events are missing");
  add(lifetimes.lost_sight, "block was lost sight of there", "blocks were lost sight of there");
  add(lifetimes.unknown_releases, "release was of a block from before",
      "releases were of blocks from before");
  add(lifetimes.implied_releases, "release was missed: the address was handed out again",
      "releases were missed: the address was handed out again");
  if (!text.empty()) page.wrap(2, 4, "Of the events: " + text + ".");
}

void write_fragmentation(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const analyse::MemoryTrend& memory = report.memory;
  if (memory.samples == 0) return;
  page.heading("FRAGMENTATION", "sampled from outside, about ten times a second");
  page.line(page.paint(Ink::kDim, row(page, "", {"live", "heap", "resident"})));
  const std::string heap = memory.heap ? bytes_text(static_cast<double>(memory.heap->mapped)) : "?";
  page.line(row(page, "at the end",
                {bytes_text(static_cast<double>(memory.last_live_bytes)), heap,
                 bytes_text(static_cast<double>(memory.last_resident))}));
  page.line(row(page, "peak",
                {bytes_text(static_cast<double>(memory.peak_live_bytes)), "",
                 bytes_text(static_cast<double>(memory.peak_resident))}));
  if (memory.resident_growth != 0 || memory.live_growth != 0) {
    page.line(row(page, "a minute",
                  {signed_bytes(memory.live_growth), "", signed_bytes(memory.resident_growth)}));
  }
  if (memory.heap) {
    page.wrap(2, 2,
              "When last looked at, " + percent_text(memory.filled()) + " of the heap (" +
                  plural(memory.heap->mappings, "mapping", "mappings") +
                  ") was live blocks; the largest hole between two of them was " +
                  bytes_text(static_cast<double>(memory.heap->largest_gap)) + " (" +
                  bytes_text(static_cast<double>(memory.worst_gap)) + " at worst).");
  }
  if (!report.lifetimes || !report.lifetimes->complete()) return;
  const Lifetimes& lifetimes = *report.lifetimes;
  if (lifetimes.shared_lines > 0) {
    page.wrap(2, 2,
              plural(lifetimes.shared_lines, "pair", "pairs") +
                  " of live neighbours from two threads share a cache line.");
  }
  // Pages beyond those that the bytes would fill.
  const auto wasted = [](const SiteLifetimes& site) {
    const double needed = static_cast<double>(site.live_bytes) / 4096 + 1;
    const auto pages = static_cast<double>(site.pages);
    return site.live >= 16 && pages > 4 * needed ? pages - needed : 0;
  };
  const std::vector<model::SiteId> sites = ranked(lifetimes, wasted);
  if (sites.empty()) return;
  page.line(page.paint(Ink::kDim, "  Scattered: few bytes on many pages."));
  page.line(page.paint(Ink::kDim, "  " + pad_left("live", 10) + pad_left("blocks", 10) +
                                      pad_left("pages", 9) + pad_left("of a page", 11) +
                                      "  function"));
  const std::size_t shown = at_most(sites.size(), std::min<std::size_t>(top == 0 ? 5 : top, 5));
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteLifetimes& site = lifetimes.sites[sites[i].index()];
    write_site(page, report, sites[i],
               "  " + pad_left(bytes_text(static_cast<double>(site.live_bytes)), 10) +
                   pad_left(count_text(site.live), 10) + pad_left(count_text(site.pages), 9) +
                   pad_left(percent_text(static_cast<double>(site.live_bytes) / 4096 /
                                         static_cast<double>(site.pages)),
                            11),
               names);
  }
}

}  // namespace

void write_lifetimes(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  top = (top + 1) / 2;
  if (report.lifetimes) {
    write_temporary(page, report, top, names);
    write_histogram(page, report, top, names);
    write_what_is_missing(page, *report.lifetimes);
    write_growth(page, report, top, names);
    write_drift(page, report, top, names);
  }
  write_fragmentation(page, report, top, names);
  if (!report.trace.has_events && !report.call_sites.ranked.empty()) {
    page.line();
    page.wrap(2, 2,
              page.paint(Ink::kDim,
                         "Lifetimes, leaks and latency drift need the events: record "
                         "with --keep all."));
  }
}

}  // namespace hitch::render
