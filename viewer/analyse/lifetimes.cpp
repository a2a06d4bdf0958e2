#include "viewer/analyse/lifetimes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "format/histogram.h"
#include "viewer/analyse/block_table.h"

namespace hitch::analyse {
namespace {

using format::EventKind;
using format::KeptEvent;

constexpr std::size_t kPrefetchAhead = 24;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCacheLine = 64;
constexpr std::uint64_t kFewestDriftCalls = 200;
constexpr double kDriftWindowNs = 60e9;
constexpr double kShortestDriftRunNs = 8e9;

// Latencies of one site in one window: format/histogram.h's buckets, made when first needed.
struct Window {
  std::vector<std::uint32_t> buckets;
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;

  void add(std::uint64_t duration) {
    const unsigned bucket = format::histogram_bucket(duration);
    if (bucket >= buckets.size()) buckets.resize(bucket + std::size_t{1});
    ++buckets[bucket];
    ++calls;
    ticks += duration;
  }
  double median() const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      before += buckets[i];
      if (before * 2 >= calls && before > 0) {
        const auto bucket = static_cast<unsigned>(i);
        return (static_cast<double>(format::histogram_lower(bucket)) +
                static_cast<double>(format::histogram_lower(bucket + 1)) - 1) /
               2;
      }
    }
    return 0;
  }
};

struct SiteWindows {
  Window first;
  Window last;
};

class Walk {
 public:
  Walk(const model::Trace& trace, Lifetimes& out) : trace_(trace), out_(out) {
    out_.sites.resize(trace.sites.size());
    windows_.resize(trace.sites.size());
    begin_ = trace.frames.empty() ? 0 : trace.frames.front().begin;
    end_ = trace.frames.empty() ? 0 : std::max(begin_, trace.frames.back().end);
    const double all_ns = trace.clock.ns(end_ - begin_);
    out_.watched_ns = all_ns;
    if (all_ns >= kShortestDriftRunNs) {
      out_.drift_window_ns = std::min(kDriftWindowNs, all_ns / 4);
      const auto ticks =
          static_cast<std::uint64_t>(out_.drift_window_ns / trace.clock.ns_per_tick());
      first_until_ = begin_ + ticks;
      last_from_ = end_ - ticks;
    }
    step_ticks_ = std::max<std::uint64_t>(1, (end_ - begin_) / kGrowthSteps);
    next_step_ = begin_ + step_ticks_;
  }

  void block(const load::EventBlock& block) {
    if (block.gap > 0) lose_sight();
    const std::span<const KeptEvent> events = block.events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i + kPrefetchAhead < events.size()) {
        const KeptEvent& ahead = events[i + kPrefetchAhead];
        table_.prefetch(ahead.address);
        if (ahead.old_address != 0) table_.prefetch(ahead.old_address);
      }
      event(events[i]);
    }
    out_.peak_tracked = std::max<std::uint64_t>(out_.peak_tracked, table_.count());
  }

  void finish() {
    while (step_ < kGrowthSteps) end_step();
    out_.live = table_.count();
    look_at_layout();
    for (std::size_t i = 0; i < out_.sites.size(); ++i) {
      judge_drift(i);
      judge_growth(out_.sites[i]);
    }
  }

 private:
  // Out of reach for a site that the trace does not have.
  std::uint32_t group(std::uint32_t site) const {
    if (trace_.group_of_site.empty()) return site;
    return site < trace_.group_of_site.size() ? trace_.group_of_site[site].value : ~0u;
  }

  std::uint32_t frame_at(std::uint64_t key) {
    const std::vector<model::Frame>& frames = trace_.frames;
    if (frames.empty()) return 0;
    const model::Frame& last = frames[frame_];
    if (key > last.begin && key <= last.end) return frame_;
    // Threads report a little out of order: most often it is the neighbour.
    if (frame_ + 1 < frames.size() && key > frames[frame_ + 1].begin &&
        key <= frames[frame_ + 1].end) {
      return ++frame_;
    }
    const auto after =
        std::upper_bound(frames.begin(), frames.end(), key,
                         [](std::uint64_t k, const model::Frame& f) { return k <= f.begin; });
    const auto found = after == frames.begin() ? 0 : after - frames.begin() - 1;
    frame_ = static_cast<std::uint32_t>(found);
    return frame_;
  }

  OrderStack& order_of(std::uint32_t thread) {
    const std::size_t place = std::min<std::size_t>(thread, kMostThreads);
    if (place >= orders_.size()) orders_.resize(place + 1);
    return orders_[place];
  }

  void event(const KeptEvent& event) {
    if (event.key >= next_step_) {
      while (event.key >= next_step_ && step_ + 1 < kGrowthSteps) end_step();
    }
    const std::uint32_t frame = frame_at(event.key);
    switch (event.kind) {
      case EventKind::kAlloc:
        if (event.address != 0) born(event, event.size, frame);
        return;
      case EventKind::kFree:
        released(event.address, event, frame, event.ticks);
        return;
      case EventKind::kRealloc:
        if (event.outcome == format::ReallocOutcome::kFailed) return;
        if (event.old_address != 0) {
          const TrackedBlock* old = released(event.old_address, event, frame, 0);
          if (old != nullptr && event.outcome == format::ReallocOutcome::kMoved) {
            SiteLifetimes& site = out_.sites[old->site];
            ++site.moved;
            site.moved_bytes += std::min(old->size, event.size);
          }
        }
        if (event.outcome != format::ReallocOutcome::kFreed && event.address != 0)
          born(event, event.size, frame);
        return;
    }
  }

  void born(const KeptEvent& event, std::uint64_t size, std::uint32_t frame) {
    const std::uint32_t number = group(event.site);
    if (number >= out_.sites.size()) return;
    SiteLifetimes& site = out_.sites[number];
    TrackedBlock block{
        event.address, event.key, size, number, event.thread, frame, order_of(event.thread).push()};
    TrackedBlock previous;
    if (table_.insert(block, previous)) {
      ++out_.implied_releases;
      leave(previous);
      order_of(previous.thread).release(previous.order);
    }
    ++out_.born;
    ++site.born;
    site.born_bytes += size;
    site.alloc_ticks += event.ticks;
    site.least_size = std::min(site.least_size, size);
    site.most_size = std::max(site.most_size, size);
    ++site.live;
    site.live_bytes += size;
    out_.live_bytes += size;
    site.peak_live = std::max(site.peak_live, site.live);
    if (site.live_bytes > site.peak_bytes) {
      site.peak_bytes = site.live_bytes;
      site.peak_frame = frame;
    }
    if (event.key <= first_until_) windows_[number].first.add(event.ticks);
    if (event.key >= last_from_) windows_[number].last.add(event.ticks);
  }

  void leave(const TrackedBlock& block) {
    SiteLifetimes& site = out_.sites[block.site];
    --site.live;
    site.live_bytes -= block.size;
    out_.live_bytes -= block.size;
  }

  // The block that was there, valid until the next call; null when it is not known.
  const TrackedBlock* released(std::uint64_t address, const KeptEvent& event, std::uint32_t frame,
                               std::uint64_t ticks) {
    if (address == 0) return nullptr;
    TrackedBlock& block = released_;
    if (!table_.erase(address, block)) {
      ++out_.unknown_releases;
      return nullptr;
    }
    leave(block);
    SiteLifetimes& site = out_.sites[block.site];
    const bool in_order = order_of(block.thread).release(block.order);
    const bool same_thread = block.thread == event.thread;
    const bool same_frame = block.frame == frame;
    ++out_.died;
    ++site.died;
    site.free_ticks += ticks;
    site.died_on_thread += same_thread ? 1 : 0;
    site.died_in_frame += same_frame ? 1 : 0;
    site.died_last += same_thread && in_order ? 1 : 0;
    if (same_frame && same_thread) {
      ++site.temporary;
      site.temporary_bytes += block.size;
    }
    const std::size_t bucket = lifetime_bucket(frame > block.frame ? frame - block.frame : 0);
    ++site.lifetimes[bucket];
    ++out_.lifetimes[bucket];
    return &block;
  }

  void lose_sight() {
    out_.lost_sight += table_.count();
    table_.clear();
    for (OrderStack& order : orders_) order.clear();
    for (SiteLifetimes& site : out_.sites) {
      site.live = 0;
      site.live_bytes = 0;
    }
    out_.live_bytes = 0;
  }

  void end_step() {
    for (SiteLifetimes& site : out_.sites) {
      site.live_after[step_] = site.live;
      site.bytes_after[step_] = site.live_bytes;
    }
    ++step_;
    next_step_ += step_ticks_;
  }

  void judge_drift(std::size_t number) {
    const SiteWindows& windows = windows_[number];
    if (windows.first.calls < kFewestDriftCalls || windows.last.calls < kFewestDriftCalls) return;
    const auto mean = [&](const Window& window) {
      return trace_.clock.ns(window.ticks) / static_cast<double>(window.calls);
    };
    const double tick = trace_.clock.ns_per_tick();
    out_.sites[number].drift =
        Drift{windows.first.calls,          windows.last.calls,  windows.first.median() * tick,
              windows.last.median() * tick, mean(windows.first), mean(windows.last)};
  }

  // Growth is what still rises in the second half, in nearly every step: start-up and caches that
  // fill do not.
  void judge_growth(SiteLifetimes& site) const {
    constexpr std::size_t kHalf = kGrowthSteps / 2;
    std::size_t rises = 0;
    for (std::size_t i = kHalf; i < kGrowthSteps; ++i)
      rises += site.bytes_after[i] > site.bytes_after[i - 1] ? 1 : 0;
    if (rises + 2 < kGrowthSteps - kHalf) return;
    const std::uint64_t before = site.bytes_after[kHalf - 1];
    const std::uint64_t after = site.bytes_after[kGrowthSteps - 1];
    if (after <= before) return;
    const double minutes = trace_.clock.ns(step_ticks_ * (kGrowthSteps - kHalf)) / 60e9;
    if (minutes > 0) site.growth_per_minute = static_cast<double>(after - before) / minutes;
  }

  // Pages that each site's live blocks touch, and neighbours of two threads in one cache line.
  void look_at_layout() {
    std::vector<TrackedBlock> blocks;
    blocks.reserve(table_.count());
    table_.for_each([&](const TrackedBlock& block) { blocks.push_back(block); });
    std::sort(blocks.begin(), blocks.end(),
              [](const TrackedBlock& a, const TrackedBlock& b) { return a.address < b.address; });
    std::vector<std::uint64_t> last_page(out_.sites.size(), ~std::uint64_t{0});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const TrackedBlock& block = blocks[i];
      const std::uint64_t first = block.address / kPage;
      const std::uint64_t last =
          (block.address + std::max<std::uint64_t>(block.size, 1) - 1) / kPage;
      std::uint64_t& seen = last_page[block.site];
      out_.sites[block.site].pages += last - first + (seen == first ? 0 : 1);
      seen = last;
      if (i == 0 || blocks[i - 1].thread == block.thread) continue;
      const TrackedBlock& before = blocks[i - 1];
      const std::uint64_t before_end = before.address + std::max<std::uint64_t>(before.size, 1) - 1;
      if (before_end / kCacheLine == block.address / kCacheLine) ++out_.shared_lines;
    }
  }

  // Threads beyond share one order: a trace that names more of them is not one of ours.
  static constexpr std::size_t kMostThreads = 1 << 16;

  const model::Trace& trace_;
  Lifetimes& out_;
  BlockTable table_;
  TrackedBlock released_;
  std::vector<OrderStack> orders_;  // by thread
  std::vector<SiteWindows> windows_;
  std::uint32_t frame_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t first_until_ = 0;
  std::uint64_t last_from_ = ~std::uint64_t{0};
  std::uint64_t step_ticks_ = 1;
  std::uint64_t next_step_ = 0;
  std::size_t step_ = 0;
};

}  // namespace

std::size_t lifetime_bucket(std::uint64_t frames) {
  if (frames == 0) return 0;
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(frames)),
                               kLifetimeBuckets - 1);
}

Lifetimes lifetimes_of(load::TraceReader& reader, const model::Trace& trace,
                       const load::OnProgress& progress) {
  Lifetimes lifetimes;
  Walk walk(trace, lifetimes);
  lifetimes.stream = load::for_each_event_block(
      reader, [&](const load::EventBlock& block) { walk.block(block); }, progress);
  walk.finish();
  return lifetimes;
}

}  // namespace hitch::analyse
