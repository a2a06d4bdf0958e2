#include "viewer/render/pattern_text.h"

#include <algorithm>
#include <vector>

#include "viewer/render/cause_text.h"
#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::HitchGroup;
using analyse::PatternKind;
using analyse::Report;

constexpr double kVisibleSpread = 0.005;
constexpr std::size_t kNumbersColumns = 30;
constexpr const char* kFirstTime = "first time this code ran: pre-create while loading";

std::string spread_text(double spread, const Style& style) {
  if (spread < kVisibleSpread) return "";
  return (style.unicode ? " ± " : " +- ") + percent_text(spread);
}

// "every 60 frames (1.00 s +- 2 %)", "every 2.00 s +- 1 % (120 frames +- 4 %)"
std::string rhythm_text(const analyse::Rhythm& rhythm, const Style& style) {
  const std::string frames =
      count_text(rhythm.frames) + " frames" + spread_text(rhythm.frames_spread, style);
  const std::string time = duration_text(rhythm.ns) + spread_text(rhythm.ns_spread, style);
  return rhythm.by_frames() ? "every " + frames + " (" + time + ")"
                            : "every " + time + " (" + frames + ")";
}

std::string rise_text(const analyse::Rise& rise) {
  return "growing from " + duration_text(rise.first_ns) + " to " + duration_text(rise.last_ns);
}

std::string gap_text(const HitchGroup& group) {
  if (group.frames.size() == 2) return "twice, " + duration_text(group.median_gap_ns) + " apart";
  return "irregular, typically " + duration_text(group.median_gap_ns) + " apart";
}

std::string when_text(const HitchGroup& group, const Style& style) {
  if (group.rhythm) {
    const std::string text = rhythm_text(*group.rhythm, style);
    return group.rhythm->times == group.frames.size()
               ? text
               : text + ", " + count_text(static_cast<std::uint64_t>(group.rhythm->times)) +
                     " of them";
  }
  return gap_text(group);
}

// "allocator: Scene::grow (scene.cpp:120)"; the place is the first to go when room is short.
std::string what_text(const HitchGroup& group, SiteNames& names, std::size_t room) {
  std::string text = verdict_label(group.verdict);
  if (!group.site) return text;
  const Name& name = names.site(*group.site);
  text += ": " + name.function;
  const std::string whole = text + " (" + name.place + ")";
  return name.place.empty() || columns_of(whole) > room ? text : whole;
}

std::size_t what_room(const Page& page) { return page.width() - kNumbersColumns; }

void write_group(Page& page, std::size_t count, double excess_ns, double median_ns,
                 const std::string& when, const std::string& what) {
  page.wrap(0, kNumbersColumns,
            pad_left(count_text(static_cast<std::uint64_t>(count)), 9) +
                pad_left(duration_text(excess_ns), 10) + pad_left(duration_text(median_ns), 10) +
                " " + when);
  page.line(std::string(kNumbersColumns, ' ') + page.paint(Ink::kDim, fit(what, what_room(page))));
}

void write_first_times(Page& page, const Report& report, SiteNames& names) {
  constexpr std::size_t kNamed = 3;
  std::size_t count = 0;
  double excess_ns = 0;
  std::vector<double> each;
  std::string who;
  for (const HitchGroup& group : report.patterns.groups) {
    if (group.kind != PatternKind::kFirstTime) continue;
    excess_ns += group.excess_ns;
    each.push_back(group.median_excess_ns);
    if (++count > kNamed || !group.site) continue;
    who += (who.empty() ? "" : ", ") + names.site(*group.site).function;
  }
  if (count == 0) return;
  if (count > kNamed) who += " and " + std::to_string(count - kNamed) + " more";
  write_group(page, count, excess_ns, analyse::median_of(std::move(each)), kFirstTime, who);
}

}  // namespace

std::string pattern_text(const Report& report, const analyse::Hitch& hitch, const Style& style,
                         SiteNames& names) {
  const auto found = report.patterns.of_hitch.find(hitch.frame);
  if (found == report.patterns.of_hitch.end()) return "";
  const HitchGroup& group = report.patterns.groups[found->second.group];
  const std::string like_it =
      "one of " + count_text(static_cast<std::uint64_t>(group.frames.size())) + " like it, ";
  switch (found->second.kind) {
    case PatternKind::kPeriodic: {
      const std::string text =
          rhythm_text(*group.rhythm, style) + ", " + plural(group.rhythm->times, "time", "times");
      return group.rise ? text + ", " + rise_text(*group.rise) : text;
    }
    case PatternKind::kFirstTime:
      return std::string(kFirstTime) +
             (group.site ? " (" + names.site(*group.site).function + ")" : "");
    case PatternKind::kRising:
      return like_it + rise_text(*group.rise);
    case PatternKind::kIrregular:
      return group.rhythm
                 ? like_it + "but not among those that come " + rhythm_text(*group.rhythm, style)
                 : like_it + gap_text(group);
    case PatternKind::kSingle:
      break;
  }
  return "";
}

void write_hitch_groups(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  const std::vector<HitchGroup>& groups = report.patterns.groups;
  const auto shown = [](const HitchGroup& group) {
    return group.frames.size() > 1 || group.kind == PatternKind::kFirstTime;
  };
  if (std::none_of(groups.begin(), groups.end(), shown)) return;
  page.heading("HITCHES THAT COME TOGETHER", "same verdict, same call site");
  page.line(page.paint(Ink::kDim, pad_left("hitches", 9) + pad_left("excess", 10) +
                                      pad_left("of one", 10) + " when, and what"));
  std::size_t written = 0;
  for (const HitchGroup& group : groups) {
    if (group.frames.size() < 2) continue;
    if (top != 0 && written++ == top) break;
    write_group(page, group.frames.size(), group.excess_ns, group.median_excess_ns,
                when_text(group, page.style()), what_text(group, names, what_room(page)));
    if (group.rise) {
      page.line(std::string(kNumbersColumns, ' ') +
                page.paint(Ink::kYellow, rise_text(*group.rise)));
    }
  }
  write_first_times(page, report, names);
}

}  // namespace hitch::render
