#include "viewer/model/frame_sites.h"

#include <algorithm>
#include <tuple>
#include <type_traits>

namespace hitch::model {
namespace {

auto key(const FrameSite& row) { return std::tuple(row.frame, row.site); }

void merge_sorted(std::vector<FrameSite>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const FrameSite& a, const FrameSite& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kept > 0 && key(rows[kept - 1]) == key(rows[i])) {
      FrameSite& sum = rows[kept - 1];
      sum.allocs += rows[i].allocs;
      sum.frees += rows[i].frees;
      sum.reallocs += rows[i].reallocs;
      sum.bytes += rows[i].bytes;
      sum.ticks += rows[i].ticks;
      sum.presenting_ticks += rows[i].presenting_ticks;
      sum.slowest_ticks = std::max(sum.slowest_ticks, rows[i].slowest_ticks);
    } else {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
}

}  // namespace

std::span<const FrameSite> FrameSites::of(FrameId frame) const {
  const auto first =
      std::lower_bound(rows_.begin(), rows_.end(), frame,
                       [](const FrameSite& row, FrameId wanted) { return row.frame < wanted; });
  auto last = first;
  while (last != rows_.end() && last->frame == frame) ++last;
  return {first, last};
}

FrameSites load_frame_sites(load::TraceReader& reader, const Trace& trace,
                            const std::vector<bool>& wanted) {
  std::vector<FrameSite> rows;
  // Frames are sorted by number, so a chunk's numbers map to a range of positions.
  const auto position = [&](std::uint64_t number) {
    return static_cast<std::size_t>(
        std::lower_bound(trace.frames.begin(), trace.frames.end(), number,
                         [](const Frame& frame, std::uint64_t n) { return frame.number < n; }) -
        trace.frames.begin());
  };
  const auto has_wanted = [&](const format::ChunkFrame& chunk) {
    if (chunk.first_frame > chunk.last_frame) return true;
    for (std::size_t i = position(chunk.first_frame);
         i < trace.frames.size() && trace.frames[i].number <= chunk.last_frame; ++i) {
      if (wanted[i]) return true;
    }
    return false;
  };
  reader.for_each_record(
      [&](const auto& record) {
        using Record = std::decay_t<decltype(record)>;
        if constexpr (std::is_same_v<Record, format::trace::FrameSite>) {
          const std::optional<FrameId> frame = trace.find_frame(record.frame);
          const std::vector<SiteId>& groups = trace.group_of_site;
          const std::size_t sites = groups.empty() ? trace.sites.size() : groups.size();
          if (!frame || !wanted[frame->index()] || record.site >= sites) return;
          FrameSite row;
          row.frame = *frame;
          row.site = groups.empty() ? SiteId(record.site) : groups[record.site];
          row.allocs = record.allocs;
          row.frees = record.frees;
          row.reallocs = record.reallocs;
          row.bytes = record.bytes;
          row.ticks = record.ticks;
          row.slowest_ticks = record.slowest_ticks;
          const auto& presenting = trace.frames[frame->index()].thread;
          if (presenting && presenting->index() == record.thread) {
            row.presenting_ticks = record.ticks;
          }
          rows.push_back(row);
        }
      },
      has_wanted);
  merge_sorted(rows);
  return FrameSites(std::move(rows));
}

}  // namespace hitch::model
