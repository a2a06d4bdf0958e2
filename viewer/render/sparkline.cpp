#include "viewer/render/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hitch::render {
namespace {

constexpr std::size_t kLevels = 8;
constexpr std::array<const char*, kLevels> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, kLevels> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};

}  // namespace

Sparkline sparkline_of(const analyse::Report& report, const Page& page, std::size_t columns) {
  Sparkline line;
  const model::Trace& trace = report.trace;
  std::vector<std::size_t> pictures;
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind == model::FrameKind::kPresent) pictures.push_back(i);
  }
  if (pictures.empty() || columns == 0) return line;
  const std::size_t width = std::min(columns, pictures.size());
  // Columns are stretches of equal time, so that a slow phase is as wide as it lasted.
  const double begin = trace.clock.ns(trace.frames[pictures.front()].begin);
  const double length = std::max(1.0, trace.clock.ns(trace.frames[pictures.back()].end) - begin);
  const auto column_of = [&](std::size_t k) {
    if (width == pictures.size()) return k;
    const double at = trace.clock.ns(trace.frames[pictures[k]].end) - begin;
    const double column = std::floor(at / length * static_cast<double>(width));
    return static_cast<std::size_t>(std::clamp(column, 0.0, static_cast<double>(width - 1)));
  };
  std::vector<double> longest(width, 0);
  std::vector<std::size_t> column_of_frame(trace.frames.size(), 0);
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const std::size_t column = column_of(k);
    column_of_frame[pictures[k]] = column;
    longest[column] =
        std::max(longest[column], trace.clock.ns(trace.frames[pictures[k]].wall_ticks()));
  }
  // A frame that spans whole columns fills them.
  for (std::size_t column = width - 1; column-- > 0;) {
    if (longest[column] == 0) longest[column] = longest[column + 1];
  }
  line.full_ns = std::max(
      1.0, std::clamp(report.stats.wall.max, 2 * report.stats.wall.p50, 4 * report.stats.wall.p50));
  std::string marks(width, ' ');
  const auto mark = [&](const std::vector<analyse::Hitch>& hitches, char sign) {
    for (const analyse::Hitch& hitch : hitches) marks[column_of_frame[hitch.frame.index()]] = sign;
  };
  mark(report.hitches.loading, 'l');
  mark(report.hitches.hidden, 'v');
  mark(report.hitches.play, '^');
  for (std::size_t column = 0; column < width; ++column) {
    const double level = longest[column] / line.full_ns * kLevels;
    const auto step =
        static_cast<std::size_t>(std::clamp(std::ceil(level) - 1, 0.0, kLevels - 1.0));
    const std::string bar = page.style().unicode ? kBlocks[step] : kAscii[step];
    line.bars += marks[column] == '^' ? page.paint(Ink::kRed, bar) : bar;
  }
  line.marks = marks.substr(0, marks.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace hitch::render
