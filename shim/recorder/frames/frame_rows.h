// The sums of one frame: per thread, per thread and call site, per tag, per heap. Rows in a file
// add up, so they may be written and cleared at any time.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "format/fault_kinds.h"
#include "recorder/resolve/flat_index.h"
#include "recorder/resolve/record_out.h"

namespace hitch::frames {

// What the shim itself costs, told by the game when it has measured it: ticks x 256.
struct OwnPrices {
  std::uint64_t alloc_x256 = 0;
  std::uint64_t free_x256 = 0;
  std::uint64_t fresh_entry_x256 = 0;  // of a callstack: one that was walked
  std::uint64_t kept_entry_x256 = 0;   // one that was compared
};

struct ThreadRow {
  std::uint32_t thread = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alloc_ticks = 0;
  std::uint64_t free_ticks = 0;
  std::uint64_t realloc_ticks = 0;
  std::uint64_t slowest_ticks = 0;
  std::uint64_t slowest_site = 0;
  std::uint64_t map_calls = 0;
  std::uint64_t map_bytes = 0;
  std::uint64_t heap_allocs = 0;
  std::uint64_t heap_frees = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t fresh_entries = 0;  // of callstacks
  std::uint64_t stack_entries = 0;  // in all, over all allocations
  std::uint64_t faults = 0;
  std::uint64_t call_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t system_faults = 0;
  std::uint64_t off_ticks = 0;
  std::uint64_t preempted_ticks = 0;
  std::uint64_t call_off_ticks = 0;
  std::uint64_t call_preempted_ticks = 0;
  std::uint64_t blocked_calls = 0;
  std::uint64_t waited_ticks = 0;
  std::uint64_t waited_faults = 0;
  std::uint64_t overlap_calls = 0;
  std::uint64_t overlap_ticks = 0;
  std::uint64_t overlap_usual_ticks = 0;
  std::uint64_t taken_ticks = 0;
};

struct FaultKey {
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};  // it is not known which thread
  std::uint64_t thread;
  format::FaultOwner owner;
  format::FaultKind kind;
  std::uint64_t id;
  std::uint64_t place;
  auto operator<=>(const FaultKey&) const = default;
};

struct FaultRow {
  std::uint64_t faults = 0;
  std::uint64_t call_faults = 0;
  std::uint64_t waited_faults = 0;
  std::uint64_t age_frames = 0;
};

struct SiteRow {
  std::uint32_t thread = 0;
  std::uint32_t site = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::uint64_t slowest_ticks = 0;
};

struct TagRow {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
};

struct HeapRow {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
};

// What is kept of a thread's rows after they were written, for the frame's own record and the log.
struct ThreadDigest {
  std::uint64_t own_ticks = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::uint32_t top_site = 0;
  std::uint64_t top_ticks = 0;
};

class FrameRows {
 public:
  FrameRows() : thread_index_(4) {}

  // Differs from that of every other state of any FrameRows: row numbers found under a serial are
  // valid as long as it is unchanged.
  std::uint64_t serial() const { return serial_; }

  std::uint32_t thread_number(std::uint32_t thread) {
    const auto fresh = static_cast<std::uint32_t>(threads_.size());
    const std::uint32_t row = thread_index_.find_or_add(thread, fresh);
    if (row == fresh) threads_.emplace_back().thread = thread;
    return row;
  }
  ThreadRow& thread_row(std::uint32_t number) { return threads_[number]; }

  // A further row. Several of one thread and site do no harm: the caller remembers the number to
  // keep them few (SiteTable).
  std::uint32_t add_site(std::uint32_t thread, std::uint32_t site) {
    const auto number = static_cast<std::uint32_t>(sites_.size());
    SiteRow& added = sites_.emplace_back();
    added.thread = thread;
    added.site = site;
    return number;
  }
  SiteRow& site_row(std::uint32_t number) { return sites_[number]; }

  TagRow& tag_row(std::uint32_t thread, std::uint64_t tag) { return tags_[{thread, tag}]; }
  HeapRow& heap_row(std::uint32_t heap) { return heaps_[heap]; }
  std::map<std::uint32_t, HeapRow>& heap_rows() { return heaps_; }
  // Faults come in runs: the row of the last one is asked for again.
  FaultRow& fault_row(const FaultKey& key) {
    if (last_fault_ == nullptr || last_fault_->first != key)
      last_fault_ = &*faults_.try_emplace(key).first;
    return last_fault_->second;
  }

  bool empty() const {
    return threads_.empty() && tags_.empty() && heaps_.empty() && faults_.empty();
  }
  // Writes all rows, adds them to `digests` and clears them.
  void write(std::uint64_t frame, const OwnPrices& prices, resolve::RecordOut& out,
             std::map<std::uint32_t, ThreadDigest>& digests);
  void clear();

 private:
  static std::uint64_t next_serial();

  std::uint64_t serial_ = next_serial();
  resolve::FlatIndex thread_index_;
  std::vector<ThreadRow> threads_;
  std::vector<SiteRow> sites_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, TagRow> tags_;
  std::map<std::uint32_t, HeapRow> heaps_;
  std::map<FaultKey, FaultRow> faults_;
  std::pair<const FaultKey, FaultRow>* last_fault_ = nullptr;
};

}  // namespace hitch::frames
