#include "viewer/render/slow_frames_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::CompanionStats;
using analyse::Meetings;

constexpr std::size_t kLabelColumns = 19;
constexpr std::size_t kFewHitches = 4;  // from so many on a count of them tells something
constexpr std::array<const char*, analyse::kCompanions> kLabels = {
    "  allocations", "  allocator time", "  page faults", "  page faults, all"};
constexpr std::array<const char*, analyse::kCompanions> kMost = {
    "most allocations", "most allocator time", "most page faults of the presenting thread",
    "most page faults of all threads"};

std::string rank_text(const std::optional<analyse::Correlation>& correlation) {
  if (!correlation) return "-";
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%.2f", correlation->spearman);
  return buffer;
}

// "12 of 14"
std::string met_text(const Meetings& meetings) {
  if (meetings.top == 0) return "-";
  return count_text(static_cast<std::uint64_t>(meetings.met)) + " of " +
         count_text(static_cast<std::uint64_t>(meetings.marked));
}

std::string finding_text(const analyse::SlowFrames& slow) {
  if (!slow.finding) return "None of these goes with the hitches.";
  const auto index = static_cast<std::size_t>(slow.finding->companion);
  const CompanionStats& stats = *slow.companions[index];
  const Meetings& met = slow.finding->before ? stats.before : stats.same;
  return met_text(met) + (met.marked == 1 ? " hitch" : " hitches") +
         (slow.finding->before ? " come right after one of the " : " are among the ") +
         plural(met.top, "frame", "frames") + " with " + kMost[index] + ".";
}

}  // namespace

void write_slow_frames(Page& page, const analyse::Report& report) {
  const analyse::SlowFrames& slow = report.slow_frames;
  const auto varies = [](const std::optional<CompanionStats>& stats) {
    return stats && (stats->wall || stats->work);
  };
  if (std::none_of(slow.companions.begin(), slow.companions.end(), varies)) return;
  const bool hitches = slow.hitches >= kFewHitches;
  const std::string of_hitches = count_text(static_cast<std::uint64_t>(slow.hitches));
  page.heading("WHAT GOES WITH SLOW FRAMES",
               "a frame; " + plural(slow.frames, "frame", "frames") + " of play");
  const auto cells = [&](const std::array<std::string, 5>& texts) {
    std::string text =
        pad_right(texts[0], kLabelColumns) + pad_left(texts[1], 9) + pad_left(texts[2], 9);
    if (hitches) text += pad_left(texts[3], 13) + pad_left(texts[4], 14);
    return text;
  };
  std::string head = std::string(kLabelColumns, ' ') + pad_left("correlation", 18);
  if (hitches) head += pad_left("in the " + of_hitches + " frames with most", 27);
  page.line(page.paint(Ink::kDim, head));
  page.line(page.paint(Ink::kDim, cells({"", "time", "work", "hitches", "frame before"})));
  for (std::size_t i = 0; i < analyse::kCompanions; ++i) {
    if (!varies(slow.companions[i])) continue;
    const CompanionStats& stats = *slow.companions[i];
    page.line(cells({kLabels[i], rank_text(stats.wall), rank_text(stats.work), met_text(stats.same),
                     met_text(stats.before)}));
  }
  std::string legend = "correlation by rank: 1 rises and falls with it, 0 is unrelated";
  if (hitches) {
    page.wrap(2, 2, finding_text(slow));
    const auto all = static_cast<double>(slow.hitches);
    legend += "; chance puts " + count_text(all * all / static_cast<double>(slow.frames)) + " of " +
              of_hitches + " there";
  }
  page.wrap(2, 2, legend);
}

}  // namespace hitch::render
