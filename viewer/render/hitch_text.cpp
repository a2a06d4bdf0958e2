#include "viewer/render/hitch_text.h"

#include <algorithm>
#include <cmath>

#include "viewer/render/cause_text.h"
#include "viewer/render/pattern_text.h"
#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::Hitch;
using analyse::Part;
using analyse::Report;

constexpr std::size_t kIndent = 4;
constexpr std::size_t kSitesShown = 3;
constexpr std::size_t kStackShown = 6;
constexpr double kVisibleNs = 5e3;  // half of the last digit shown

std::string since_start(const Report& report, const model::Frame& frame) {
  return "at " + duration_text(report.trace.clock.ns(frame.begin));
}

std::string headline(const Page& page, const Report& report, const Hitch& hitch, std::size_t rank) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  std::string text = pad_left(std::to_string(rank), 2) + "  " +
                     page.paint(Ink::kBold, "frame " + count_text(frame.picture)) + " " +
                     since_start(report, frame) + ": ";
  if (hitch.kind == analyse::HitchKind::kHiddenByVsync) {
    text += ms_text(hitch.balance.work) + " ms of work (usually " + ms_text(hitch.usual.work) +
            ") in " + ms_text(hitch.balance.wall) + " ms  ";
  } else {
    text += ms_text(hitch.balance.wall) + " ms (usually " + ms_text(hitch.usual.wall) + ")  ";
  }
  const std::size_t room = page.width() - std::min(page.width(), columns_of(text));
  return text + page.paint(verdict_ink(hitch.verdict), fit(verdict_label(hitch.verdict), room));
}

void write_balance(Page& page, const Report& report, const Hitch& hitch) {
  const std::size_t bar_room = std::min<std::size_t>(page.width() - 52, 40);
  double largest = 1;
  for (const double excess : hitch.excess) largest = std::max(largest, excess);
  for (std::size_t index = 0; index < analyse::kParts; ++index) {
    const auto part = static_cast<Part>(index);
    const double value = hitch.balance.parts[index];
    const bool limiter = part == Part::kSleep || part == Part::kPresent;
    if (limiter && value < kVisibleNs && hitch.usual.parts[index] < kVisibleNs) continue;
    std::string number = ms_text(value);
    std::string over = signed_ms_text(hitch.excess[index]);
    const bool unknown =
        (part == Part::kAllocator && !report.measures.calls_timed) ||
        ((part == Part::kWaiting || part == Part::kFaults) && !hitch.balance.counters_known) ||
        (part == Part::kFaults && report.measures.fault_price_ns <= 0);
    if (unknown) {
      number = "?";
      over = "?";
    }
    std::string label = part_label(part);
    if (part == Part::kFaults && !unknown) label += " est.";
    std::string text = std::string(kIndent + 2, ' ') + pad_right(label, 17) + pad_left(number, 9) +
                       " ms " + pad_left(over, 9);
    const double share = hitch.excess[index] / largest;
    if (!unknown && hitch.excess[index] >= kVisibleNs && share >= 0.02) {
      const auto length = static_cast<std::size_t>(
          std::max(1.0, std::round(share * static_cast<double>(bar_room))));
      std::string bar;
      for (std::size_t i = 0; i < length; ++i) bar += page.style().unicode ? "█" : "#";
      const bool cause = std::any_of(hitch.causes.begin(), hitch.causes.end(),
                                     [part](const auto& c) { return c.part == part; });
      text += "  " + page.paint(cause ? verdict_ink(hitch.verdict) : Ink::kDim, bar);
    }
    page.line(text);
  }
}

std::string site_text(const Page& page, const std::string& numbers, const Name& name,
                      std::size_t indent) {
  std::string text = name.function;
  const std::size_t room = page.width() - indent - columns_of(numbers);
  // The hint helps with names that say little, and is the first to go when room is short.
  if (!name.hint.empty() && columns_of(text) + columns_of(name.hint) + 3 <= room) {
    text += " (" + name.hint + ")";
  }
  if (!name.place.empty() && columns_of(text) + columns_of(name.place) + 3 <= room) {
    text += " (" + name.place + ")";
  }
  return std::string(indent, ' ') + numbers + fit(text, room);
}

void write_sites(Page& page, const Report& report, const Hitch& hitch, SiteNames& names) {
  const auto found = report.hitch_sites.find(hitch.frame);
  if (found == report.hitch_sites.end()) return;
  std::size_t shown = 0;
  for (const analyse::HitchSite& site : found->second) {
    if (shown == kSitesShown) break;
    const auto calls = static_cast<double>(site.work.calls());
    const bool more_time = site.excess_ns >= 0.02 * hitch.excess_ns;
    const bool more_calls = calls >= 3 * site.usual_calls && calls >= site.usual_calls + 32;
    if (!more_time && !more_calls) continue;
    if (shown++ == 0) page.line(page.paint(Ink::kDim, "    call sites, all threads:"));
    std::string numbers = report.measures.calls_timed
                              ? pad_left(duration_text(report.trace.clock.ns(site.work.ticks)), 8)
                              : "";
    numbers += pad_left(count_text(site.work.calls()), 8) +
               (site.work.calls() == 1 ? " call   " : " calls  ");
    std::string against;
    if (site.usual_calls == 0) {
      against = "usually none";
    } else if (calls >= 1.5 * site.usual_calls) {
      against = times_text(calls / site.usual_calls) + " its usual count";
    } else if (site.excess_ns >= 0.5 * site.usual_ns && site.usual_ns > 0) {
      against =
          times_text(report.trace.clock.ns(site.work.ticks) / site.usual_ns) + " its usual time";
    } else {
      against = "as usual";
    }
    numbers += pad_right(against, 22);
    page.line(site_text(page, numbers, names.site(site.work.site), kIndent));
  }
}

// Why the call was slow, with the evidence; empty when that is not known.
std::string outlier_text(const Report& report, const model::Outlier& outlier) {
  const auto ns = [&](std::uint64_t ticks) { return duration_text(report.trace.clock.ns(ticks)); };
  switch (analyse::outlier_cause(report.trace, outlier, report.measures)) {
    case analyse::OutlierCause::kFaults:
      return plural(outlier.faults, "page fault", "page faults") + " inside it";
    case analyse::OutlierCause::kMapping:
      return outlier.faults > 0 ? "mapping or growing the heap, " +
                                      plural(outlier.faults, "page fault", "page faults")
                                : "mapping, unmapping or growing the heap";
    case analyse::OutlierCause::kTrimming:
      return "merging free memory or giving it back";
    case analyse::OutlierCause::kContention:
      return ns(outlier.off_ticks) + " off the CPU: a contended lock";
    case analyse::OutlierCause::kPreempted:
      return "preempted for " + ns(outlier.preempted_ticks);
    case analyse::OutlierCause::kUnknown:
      break;
  }
  return "";
}

void write_outlier(Page& page, const Report& report, const Hitch& hitch, SiteNames& names) {
  if (!hitch.slowest_outlier) return;
  const model::Outlier& outlier = report.trace.outliers[*hitch.slowest_outlier];
  const double ns = report.trace.clock.ns(outlier.ticks);
  if (ns < 0.05 * hitch.excess_ns) return;
  std::string text = "slowest call: " + duration_text(ns) + " in " + op_name(outlier.op);
  if (outlier.size > 0) text += " of " + bytes_text(static_cast<double>(outlier.size));
  text += " on " + names.thread(outlier.thread);
  if (outlier.stack) {
    const std::string stack = names.stack(*outlier.stack, kStackShown);
    if (!stack.empty()) text += ": " + stack;
  } else if (outlier.site) {
    text += " by " + names.site(*outlier.site).function;
  }
  const std::string why = outlier_text(report, outlier);
  if (!why.empty()) text += " (" + why + ")";
  page.wrap(kIndent, kIndent + 2, text);
}

// Of a frame that waited: what the others did, those that did most first.
void write_threads(Page& page, const Report& report, const Hitch& hitch, SiteNames& names) {
  using analyse::ThreadBalance;
  const bool waited = hitch.verdict == analyse::Verdict::kWaiting ||
                      hitch.verdict == analyse::Verdict::kWaitingOnMemory ||
                      hitch.verdict == analyse::Verdict::kPreempted;
  if (!report.measures.switches_known || !waited) return;
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  std::vector<ThreadBalance> others;
  for (const model::FrameThread& row : report.trace.threads_of(hitch.frame)) {
    if (frame.thread && row.thread == *frame.thread) continue;
    others.push_back(analyse::thread_balance_of(report.trace, row, report.measures));
  }
  const auto on_cpu = [](const ThreadBalance& b) { return b.allocator + b.faults + b.rest; };
  std::stable_sort(
      others.begin(), others.end(),
      [&](const ThreadBalance& a, const ThreadBalance& b) { return on_cpu(a) > on_cpu(b); });
  std::size_t shown = 0;
  for (const ThreadBalance& other : others) {
    if (shown == kSitesShown || on_cpu(other) < 0.1 * hitch.excess_ns) break;
    if (shown++ == 0)
      page.line(
          page.paint(Ink::kDim, "    other threads: allocator   faults est.   off CPU      rest"));
    page.line(std::string(kIndent, ' ') + pad_right(fit(names.thread(other.thread), 14), 14) +
              pad_left(ms_text(other.allocator), 10) + pad_left(ms_text(other.faults), 14) +
              pad_left(ms_text(other.off_cpu), 10) + pad_left(ms_text(other.rest), 10) + " ms");
  }
}

void write_remarks(Page& page, const Report& report, const Hitch& hitch) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  const std::string message = printable(report.trace.text(frame.message));
  if (!message.empty()) {
    page.line(std::string(kIndent, ' ') +
              fit("last message: \"" + message + "\"", page.width() - kIndent));
  }
  if ((frame.flags & model::kEventsLost) != 0) {
    page.wrap(kIndent, kIndent + 2,
              page.paint(Ink::kYellow, "events of this frame were lost under load") +
                  ": call sites may be incomplete, sums are not");
  }
  if ((frame.flags & model::kStacksShed) != 0) {
    page.line(std::string(kIndent, ' ') + "callstacks of this frame were left out under load");
  }
}

}  // namespace

Ink verdict_ink(analyse::Verdict verdict) {
  switch (verdict) {
    case analyse::Verdict::kAllocator:
    case analyse::Verdict::kFaults:
    case analyse::Verdict::kMemory:
    case analyse::Verdict::kWaitingOnMemory:
      return Ink::kRed;
    case analyse::Verdict::kWaitingOnFiles:
    case analyse::Verdict::kWaiting:
    case analyse::Verdict::kPreempted:
    case analyse::Verdict::kMixed:
      return Ink::kYellow;
    default:
      return Ink::kCyan;
  }
}

void write_hitch(Page& page, const Report& report, const Hitch& hitch, std::size_t rank,
                 SiteNames& names) {
  page.line();
  page.line(headline(page, report, hitch, rank));
  std::string sentence = cause_sentence(report, hitch, names) + ".";
  if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 32);
  page.wrap(kIndent, kIndent, sentence);
  const std::string pattern = pattern_text(report, hitch, page.style(), names);
  if (!pattern.empty()) page.wrap(kIndent, kIndent + 2, "When: " + pattern + ".");
  const std::string remedy = try_text(report, hitch, names);
  if (!remedy.empty())
    page.wrap(kIndent, kIndent + 5, page.paint(Ink::kGreen, "Try:") + " " + remedy + ".");
  write_balance(page, report, hitch);
  write_threads(page, report, hitch, names);
  write_outlier(page, report, hitch, names);
  write_sites(page, report, hitch, names);
  write_remarks(page, report, hitch);
}

void write_hitch_brief(Page& page, const Report& report, const Hitch& hitch, std::size_t rank) {
  page.line(headline(page, report, hitch, rank));
}

void write_window_brief(Page& page, const Report& report, const analyse::WindowCost& window,
                        std::size_t rank) {
  const model::Frame& frame = report.trace.frames[window.frame.index()];
  page.line(pad_left(std::to_string(rank), 2) + "  " +
            page.paint(Ink::kBold, "window " + count_text(frame.number)) + " " +
            since_start(report, frame) + ": " +
            (report.measures.calls_timed ? duration_text(window.allocator_ns) + " in the allocator"
                                         : std::string("calls not timed")));
}

void write_window(Page& page, const Report& report, const analyse::WindowCost& window,
                  std::size_t rank, SiteNames& names) {
  const analyse::FrameSums sums = analyse::sums_of(report.trace, window.frame);
  page.line();
  write_window_brief(page, report, window, rank);
  std::string text = count_text(sums.allocs) + " allocations of " +
                     bytes_text(static_cast<double>(sums.bytes)) + ", " +
                     count_text(window.faults) + " page faults";
  if (window.faults > 0 && report.measures.fault_price_ns > 0) {
    text += " (est. " + duration_text(window.faults_ns) + ")";
  }
  page.line(std::string(kIndent, ' ') + text);
  const auto found = report.window_sites.find(window.frame);
  if (found == report.window_sites.end()) return;
  for (std::size_t i = 0; i < std::min(kSitesShown, found->second.size()); ++i) {
    const model::FrameSite& site = found->second[i];
    const std::string numbers = pad_left(duration_text(report.trace.clock.ns(site.ticks)), 8) +
                                pad_left(count_text(site.calls()), 9) + " calls  ";
    page.line(site_text(page, numbers, names.site(site.site), kIndent));
  }
}

}  // namespace hitch::render
