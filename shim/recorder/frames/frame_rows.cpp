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
  faults_.clear();
  last_fault_ = nullptr;
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
    record.faults = row.faults;
    record.call_faults = row.call_faults;
    record.major_faults = row.major_faults;
    record.system_faults = row.system_faults;
    record.off_ticks = row.off_ticks;
    record.preempted_ticks = row.preempted_ticks;
    record.call_off_ticks = row.call_off_ticks;
    record.call_preempted_ticks = row.call_preempted_ticks;
    record.blocked_calls = row.blocked_calls;
    record.waited_ticks = row.waited_ticks;
    record.waited_faults = row.waited_faults;
    record.overlap_calls = row.overlap_calls;
    record.overlap_ticks = row.overlap_ticks;
    record.overlap_usual_ticks = row.overlap_usual_ticks;
    record.taken_ticks = row.taken_ticks;
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
  for (const auto& [key, row] : faults_) {
    out.put(trace::FrameFault{frame, key.thread, static_cast<std::uint64_t>(key.owner), key.id,
                              key.place, static_cast<std::uint64_t>(key.kind), row.faults,
                              row.call_faults, row.waited_faults, row.age_frames});
  }
  clear();
}

}  // namespace hitch::frames
