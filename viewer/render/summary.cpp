#include "viewer/render/summary.h"

#include <algorithm>

#include "viewer/render/fault_text.h"
#include "viewer/render/hitch_text.h"
#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

// Appends at most `lines` lines of `from`.
void take_lines(Page& to, const Page& from, std::size_t lines) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines && at < from.text().size(); ++i) {
    const std::size_t end = from.text().find('\n', at);
    to.line(from.text().substr(at, end - at));
    at = end + 1;
  }
}

std::size_t room_in(const Page& page, std::size_t kept_free) {
  const std::size_t used = page.lines() + kept_free;
  return used < kSummaryLines ? kSummaryLines - used : 0;
}

}  // namespace

std::string summary_text(const analyse::Report& report, const std::string& file, Style style,
                         SiteNames& names) {
  style.width = std::max(style.width, kMinWidth);
  Page page(style);
  // From the bottom up: cost and losses always fit, so does one call site.
  Page foot(style);
  foot.wrap(0, 2, recording_cost(report));
  const std::string losses = losses_text(report);
  foot.wrap(0, 2, losses.empty() ? "No event was lost." : foot.paint(Ink::kYellow, losses));
  const std::string note = fault_note_text(report);
  if (!note.empty()) foot.wrap(0, 2, foot.paint(Ink::kYellow, note));
  constexpr std::size_t kSiteLines = 4;
  const bool sites = !report.call_sites.ranked.empty();
  const std::size_t foot_lines = foot.lines() + (sites ? kSiteLines : 0);

  write_title(page, report, file);
  Page answer(style);
  write_answer(answer, report, names);
  take_lines(page, answer, 7);
  Page times(style);
  write_frame_times(times, report);
  take_lines(page, times, room_in(page, foot_lines));
  const std::vector<analyse::Hitch>& play = report.hitches.play;
  // The worst one is told above already.
  for (std::size_t i = 1; i < play.size() && room_in(page, foot_lines) > 0; ++i) {
    write_hitch_brief(page, report, play[i], i + 1);
  }
  for (std::size_t i = 0; i < report.windows.size() && i < 5 && room_in(page, foot_lines) > 0;
       ++i) {
    write_window_brief(page, report, report.windows[i], i + 1);
  }
  if (sites) {
    page.line(site_table_head(page, report));
    const std::size_t shown = std::min<std::size_t>(
        report.call_sites.ranked.size(), std::min<std::size_t>(5, room_in(page, foot.lines())));
    for (std::size_t i = 0; i < shown; ++i) {
      page.line(site_row(page, report, report.call_sites.ranked[i], names));
    }
  }
  take_lines(page, foot, room_in(page, 0));
  return page.text();
}

}  // namespace hitch::render
