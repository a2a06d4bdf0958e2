#include "recorder/frames/frame_rows.h"

namespace hitch::frames {

namespace trace = format::trace;

std::uint64_t FrameRows::next_serial() {
  static thread_local std::uint64_t last = 0;
  return ++last;
}

void FrameRows::clear() {
  serial_ = next_serial();
  thread_index_.clear();
  threads_.clear();
  sites_.clear();
  tags_.clear();
  heaps_.clear();
}

void FrameRows::write(std::uint64_t frame, const OwnPrices& prices, resolve::RecordOut& out,
                      std::map<std::uint32_t, ThreadDigest>& digests) {
  for (const ThreadRow& row : threads_) {
    trace::FrameThread record;
    record.frame = frame;
    record.thread = row.thread;
    record.allocs = row.allocs;
    record.frees = row.frees;
    record.reallocs = row.reallocs;
    record.bytes = row.bytes;
    record.alloc_ticks = row.alloc_ticks;
    record.free_ticks = row.free_ticks;
    record.realloc_ticks = row.realloc_ticks;
    record.slowest_ticks = row.slowest_ticks;
    record.slowest_site = row.slowest_site;
    record.map_calls = row.map_calls;
    record.map_bytes = row.map_bytes;
    record.heap_allocs = row.heap_allocs;
    record.heap_frees = row.heap_frees;
    record.heap_bytes = row.heap_bytes;
    record.own_ticks =
        ((row.allocs + row.reallocs) * prices.alloc_x256 + row.frees * prices.free_x256 +
         row.fresh_entries * prices.fresh_entry_x256 + row.stack_entries * prices.kept_entry_x256) /
        256;
    out.put(record);
    ThreadDigest& digest = digests[row.thread];
    digest.own_ticks += record.own_ticks;
    digest.calls += row.allocs + row.frees + row.reallocs;
    digest.bytes += row.bytes;
    digest.ticks += row.alloc_ticks + row.free_ticks + row.realloc_ticks;
  }
  for (const SiteRow& row : sites_) {
    out.put(trace::FrameSite{frame, row.thread, row.site, row.allocs, row.frees, row.reallocs,
                             row.bytes, row.ticks, row.slowest_ticks});
    ThreadDigest& digest = digests[row.thread];
    if (row.ticks > digest.top_ticks) {
      digest.top_ticks = row.ticks;
      digest.top_site = row.site;
    }
  }
  for (const auto& [key, row] : tags_) {
    out.put(trace::FrameTag{frame, key.first, key.second, row.calls, row.bytes, row.ticks});
  }
  for (const auto& [heap, row] : heaps_) {
    out.put(trace::FrameHeap{frame, heap, row.allocs, row.frees, row.bytes, row.live_blocks,
                             row.live_bytes});
  }
  clear();
}

}  // namespace hitch::frames
