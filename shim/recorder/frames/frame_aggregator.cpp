#include "recorder/frames/frame_aggregator.h"

#include <algorithm>

namespace hitch::frames {

using drain::Event;
using format::BufferKind;
using format::Op;
using resolve::LiveBlock;
using resolve::SiteClass;
namespace trace = format::trace;

namespace {

constexpr std::size_t kPrefetchAhead = 16;

std::uint64_t ticks_of_ms(const AggregatorConfig& config, double ms) {
  return static_cast<std::uint64_t>(std::max(1.0, ms * static_cast<double>(config.tsc_hz) / 1e3));
}

}  // namespace

FrameAggregator::FrameAggregator(const AggregatorConfig& config,
                                 const resolve::ProcessFiles& process, bool translate_thread_ids,
                                 resolve::RecordOut& out)
    : config_(config),
      out_(out),
      modules_(out, process),
      stacks_(out, modules_),
      sites_(out, modules_, stacks_),
      texts_(out),
      threads_(out, process, translate_thread_ids),
      blocks_(ticks_of_ms(config, 0.010)),
      heaps_(out, texts_, ticks_of_ms(config, 0.010)),
      timeline_({ticks_of_ms(config, std::max(config.window_ms, 0.1)), ticks_of_ms(config, 25),
                 ticks_of_ms(config, 500)},
                out),
      kernel_({out, blocks_, modules_, sites_, texts_, threads_, timeline_}, process,
              config.tsc_hz),
      timed_allocs_(config.level != format::Level::kCount &&
                    config.time_mode != format::TimeMode::kNone),
      timed_frees_(config.level != format::Level::kCount &&
                   config.time_mode == format::TimeMode::kAll) {
  if (config.keep_events && config.level != format::Level::kCount)
    keeper_ = std::make_unique<EventKeeper>(
        out, EventKeeper::Config{config.tsc_hz, config.keep_hitches_only, config.keep_around},
        [this] { sites_.write_new(last_key_, now_ms_); });
  timeline_.set_callbacks([this] { sites_.write_new(last_key_, now_ms_); },
                          [this](OpenFrame& frame) { complete_frame(frame); });
}

void FrameAggregator::set_prices(std::uint64_t pair_floor, const OwnPrices& own) {
  pair_floor_ = pair_floor;
  timeline_.set_prices(own);
}

void FrameAggregator::note_pool_use(std::uint64_t chunks) {
  std::uint64_t& most = timeline_.current().record.pool_chunks;
  most = std::max(most, chunks);
}

HITCH_FAST void FrameAggregator::prefetch(const Event& event) const {
  blocks_.prefetch(event.block);
  const SiteClass site_class =
      event.kind == BufferKind::kFree ? SiteClass::kFree : SiteClass::kAlloc;
  logs_[event.thread]->sites.prefetch(resolve::CallSite{event.caller, 0, site_class}.key());
}

void FrameAggregator::on_events(std::span<const Event> events) {
  const std::size_t warm = std::min(kPrefetchAhead, events.size());
  for (std::size_t i = 0; i < warm; ++i) prefetch(events[i]);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + kPrefetchAhead < events.size()) prefetch(events[i + kPrefetchAhead]);
    const Event& event = events[i];
    if (event.key > kernel_.next_key()) [[unlikely]]
      kernel_.take_until(event.key);
    last_key_ = event.key;
    switch (event.kind) {
      case BufferKind::kAlloc:
      case BufferKind::kAllocWide:
        alloc(event);
        break;
      case BufferKind::kFree:
        free(event);
        break;
      default:
        rare(event);
    }
  }
}

ThreadRow& FrameAggregator::thread_row(ThreadLog& log, std::uint32_t thread, FrameRows& rows) {
  if (log.thread_row_serial != rows.serial()) {
    log.thread_row = rows.thread_number(thread);
    log.thread_row_serial = rows.serial();
  }
  return rows.thread_row(log.thread_row);
}

FrameAggregator::Cell FrameAggregator::cell(ThreadLog& log, std::uint32_t thread,
                                            std::uint64_t start, const resolve::CallSite& call_site,
                                            Op op) {
  OpenFrame& frame = timeline_.at(start);
  FrameRows& rows = frame.rows;
  thread_row(log, thread, rows);
  const std::uint64_t key = call_site.key();
  SiteTable::Entry* entry = &log.sites.find(key);
  if (entry->key != key) [[unlikely]] {
    entry = &log.sites.add(key, sites_.id(call_site, op));
  }
  if (entry->serial != rows.serial()) {
    entry->row = rows.add_site(thread, entry->site);
    entry->serial = rows.serial();
  }
  return {rows, frame.record.id, log.thread_row, entry->row, entry->site};
}

void FrameAggregator::settle_free(ThreadLog& log, std::uint32_t thread, std::uint64_t ticks) {
  PendingFree& pending = log.pending_free;
  if (!pending.open) return;
  pending.open = false;
  if (ticks == 0) return;
  const std::uint64_t duration = net(ticks);
  if (log.kernel->dirty) [[unlikely]]
    kernel_.settle(*log.kernel, {pending.key, pending.key + ticks, pending.site, 0, 0});
  if (keeper_ != nullptr) keeper_->set_ticks(pending.kept, duration);
  FrameRows& rows = timeline_.rows_of(pending.frame);
  if (rows.serial() != pending.serial) {
    pending.thread_row = rows.thread_number(thread);
    pending.site_row = rows.add_site(thread, pending.site);
  }
  ThreadRow& row = rows.thread_row(pending.thread_row);
  row.free_ticks += duration;
  if (duration > row.slowest_ticks) {
    row.slowest_ticks = duration;
    row.slowest_site = pending.site + std::uint64_t{1};
  }
  SiteRow& site = rows.site_row(pending.site_row);
  site.ticks += duration;
  site.slowest_ticks = std::max(site.slowest_ticks, duration);
  if (pending.tag != 0) rows.tag_row(thread, pending.tag).ticks += duration;
  latencies_.add(log.latencies, CallKind::kFree, pending.size_class, duration);
}

inline void FrameAggregator::count_tag(ThreadLog& log, std::uint32_t thread, FrameRows& rows,
                                       std::uint64_t bytes, std::uint64_t ticks) {
  if (log.tags.empty()) [[likely]] {
    return;
  }
  TagRow& row = rows.tag_row(thread, log.tags.back());
  ++row.calls;
  row.bytes += bytes;
  row.ticks += ticks;
}

void FrameAggregator::alloc(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  ++log.recorded;
  const std::uint64_t duration = net(event.ticks);
  const std::uint64_t start = event.key - std::min(event.ticks, event.key);
  // A failed call got no bytes, whatever it asked for.
  const std::uint64_t bytes = event.block != 0 ? event.size : 0;
  const Cell at =
      cell(log, event.thread, start, {event.caller, log.stack(), SiteClass::kAlloc}, event.op);
  ThreadRow& row = at.rows.thread_row(at.thread_row);
  ++row.allocs;
  row.stack_entries += log.path.size();
  row.bytes += bytes;
  row.alloc_ticks += duration;
  if (duration > row.slowest_ticks) {
    row.slowest_ticks = duration;
    row.slowest_site = at.site + std::uint64_t{1};
  }
  SiteRow& site = at.rows.site_row(at.site_row);
  ++site.allocs;
  site.bytes += bytes;
  site.ticks += duration;
  site.slowest_ticks = std::max(site.slowest_ticks, duration);
  count_tag(log, event.thread, at.rows, bytes, duration);
  if (timed_allocs_) {
    latencies_.add(log.latencies, CallKind::kAlloc, size_class(event.size), duration);
    join_kernel(log, row, {start, event.key, at.site, event.block, event.size});
  }
  blocks_.allocated(event.thread, event.key, event.block,
                    {event.size, at.site, static_cast<std::uint16_t>(at.frame)});
  if (bytes >= KernelLog::kLargeBytes) [[unlikely]]
    kernel_.large_allocated(event.block, at.site, event.size);
  if (keeper_ != nullptr) {
    keeper_->add({start,
                  duration,
                  event.block,
                  0,
                  event.size,
                  at.site,
                  event.thread,
                  format::EventKind::kAlloc,
                  event.op,
                  {}});
  }
  if (bytes >= config_.large_block_bytes) [[unlikely]] {
    put_large_block(event.key, at.frame, event.thread, event, bytes, at.site);
  }
}

void FrameAggregator::free(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  ++log.recorded;
  const Cell at = cell(log, event.thread, event.key, {event.caller, 0, SiteClass::kFree}, event.op);
  ++at.rows.thread_row(at.thread_row).frees;
  ++at.rows.site_row(at.site_row).frees;
  count_tag(log, event.thread, at.rows, 0, 0);
  LiveBlock block{};
  const bool known = blocks_.released(event.thread, event.key, event.block, block);
  if (block.size >= KernelLog::kLargeBytes) [[unlikely]]
    kernel_.large_freed(*log.kernel, event.key, event.block, block, at.frame);
  log.freed_address = event.block;
  log.freed_size = known ? block.size : 0;
  std::uint64_t kept = 0;
  if (keeper_ != nullptr) {
    kept = keeper_->add({event.key,
                         0,
                         event.block,
                         0,
                         0,
                         at.site,
                         event.thread,
                         format::EventKind::kFree,
                         event.op,
                         {}});
  }
  if (timed_frees_) {
    log.pending_free = {
        true,          at.frame,    event.key, at.rows.serial(),
        at.thread_row, at.site_row, at.site,   known ? size_class(block.size) : kNoSizeClass,
        log.tag(),     kept};
  }
}

inline void FrameAggregator::join_kernel(ThreadLog& log, ThreadRow& row, const CallSpan& call) {
  const std::uint32_t thread = log.kernel->number;
  const bool undisturbed = !log.kernel->dirty;
  if (!undisturbed) [[unlikely]]
    kernel_.settle(*log.kernel, call);
  if (!kernel_.is_presenter(thread))
    row.waited_ticks += kernel_.waited_within(call.begin, call.end);
  // What faulted or was off the CPU is explained already.
  if (overlaps_.several() && undisturbed) {
    const std::size_t of_class = size_class(call.size);
    const std::uint64_t ticks = call.end - call.begin;
    if (!overlaps_.meets(thread, call.begin)) {
      overlaps_.learn(call.site, of_class, ticks);
    } else if (const std::uint64_t usual = overlaps_.usual(call.site, of_class); usual != 0) {
      ++row.overlap_calls;
      row.overlap_ticks += ticks;
      row.overlap_usual_ticks += usual;
    }
  }
  overlaps_.ended(thread, call.end);
}

void FrameAggregator::realloc_begin(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  PendingRealloc& pending = log.pending_realloc;
  pending.open = true;
  pending.address = event.block;
  pending.known = blocks_.released(event.thread, event.key, event.block, pending.block);
}

void FrameAggregator::realloc_end(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  ++log.recorded;
  const std::uint64_t duration = net(event.ticks);
  const std::uint64_t start = event.key - std::min(event.ticks, event.key);
  const bool got_block =
      event.kind == BufferKind::kReallocMoved || event.kind == BufferKind::kReallocInPlace;
  const std::uint64_t bytes = got_block ? event.size : 0;
  const Cell at =
      cell(log, event.thread, start, {event.caller, log.stack(), SiteClass::kRealloc}, event.op);
  ThreadRow& row = at.rows.thread_row(at.thread_row);
  ++row.reallocs;
  row.stack_entries += log.path.size();
  row.bytes += bytes;
  row.realloc_ticks += duration;
  if (duration > row.slowest_ticks) {
    row.slowest_ticks = duration;
    row.slowest_site = at.site + std::uint64_t{1};
  }
  SiteRow& site = at.rows.site_row(at.site_row);
  ++site.reallocs;
  site.bytes += bytes;
  site.ticks += duration;
  site.slowest_ticks = std::max(site.slowest_ticks, duration);
  count_tag(log, event.thread, at.rows, bytes, duration);
  if (timed_allocs_) {
    latencies_.add(log.latencies, CallKind::kRealloc, size_class(event.size), duration);
    join_kernel(log, row, {start, event.key, at.site, got_block ? event.block : 0, event.size});
  }
  const PendingRealloc old = log.pending_realloc;
  log.pending_realloc = {};
  if (keeper_ != nullptr) {
    const auto outcome = static_cast<format::ReallocOutcome>(
        static_cast<unsigned>(event.kind) - static_cast<unsigned>(BufferKind::kReallocMoved));
    keeper_->add({start, duration, event.block, old.open ? old.address : 0, event.size, at.site,
                  event.thread, format::EventKind::kRealloc, event.op, outcome});
  }
  const bool was_large = old.open && old.known && old.block.size >= KernelLog::kLargeBytes;
  if (was_large || bytes >= KernelLog::kLargeBytes) [[unlikely]]
    kernel_.large_reallocated(was_large ? old.address : 0,
                              bytes >= KernelLog::kLargeBytes ? event.block : 0);
  if (got_block) {
    blocks_.allocated(event.thread, event.key, event.block,
                      {bytes, at.site, static_cast<std::uint16_t>(at.frame)});
    if (bytes >= config_.large_block_bytes) {
      put_large_block(event.key, at.frame, event.thread, event, bytes, at.site);
    }
  } else if (event.kind == BufferKind::kReallocFailed && old.open && old.known) {
    blocks_.allocated(event.thread, event.key, old.address, old.block);
  }
}

void FrameAggregator::put_large_block(std::uint64_t time, std::uint64_t frame, std::uint32_t thread,
                                      const Event& event, std::uint64_t size, std::uint32_t site) {
  sites_.write_new(last_key_, now_ms_);
  out_.put(trace::LargeBlock{time, frame, thread, static_cast<std::uint64_t>(event.op), size,
                             event.block, site});
}

void FrameAggregator::on_thread_start(std::uint32_t thread, std::uint32_t tid) {
  if (logs_.size() <= thread) logs_.resize(thread + std::size_t{1});
  logs_[thread] = std::make_unique<ThreadLog>();
  logs_[thread]->first_key = last_key_;
  threads_.started(thread, tid, last_key_);
  logs_[thread]->kernel = kernel_.thread_started(thread, last_key_);
}

void FrameAggregator::forget_open_calls(ThreadLog& log) {
  log.pending_free = {};
  log.pending_realloc = {};
  log.tags.clear();
  log.tags_refused = 0;
}

void FrameAggregator::on_thread_end(std::uint32_t thread, const drain::SlotCounters& c) {
  ThreadLog& log = log_of(thread);
  settle_free(log, thread, c.pending_free_ticks);
  if (config_.level == format::Level::kCount) {
    add_flushed(timeline_.current().rows, thread, c.allocs - std::min(c.allocs, log.flushed_allocs),
                c.frees - std::min(c.frees, log.flushed_frees),
                c.reallocs - std::min(c.reallocs, log.flushed_reallocs),
                c.alloc_bytes + c.realloc_bytes -
                    std::min(c.alloc_bytes + c.realloc_bytes, log.flushed_bytes),
                0);
  }
  trace::Counters record;
  record.thread = thread;
  record.allocs = c.allocs;
  record.frees = c.frees;
  record.reallocs = c.reallocs;
  record.null_frees = c.null_frees;
  record.alloc_bytes = c.alloc_bytes;
  record.realloc_bytes = c.realloc_bytes;
  record.alloc_ticks = c.alloc_ticks;
  record.free_ticks = c.free_ticks;
  record.realloc_ticks = c.realloc_ticks;
  record.recorded = log.recorded;
  const std::uint64_t calls = c.allocs + c.frees + c.reallocs;
  if (config_.level != format::Level::kCount) {
    record.dropped = calls - std::min(calls, log.recorded);
  }
  record.nested = c.nested_calls;
  record.abandoned = c.abandoned_calls;
  record.map_calls = c.map_calls;
  record.map_bytes = c.map_bytes;
  record.shed_stacks = c.shed_stacks;
  out_.put(record);
  if (config_.level != format::Level::kCount) {
    if (c.nested_calls != 0) put_gap(thread, 3, {c.nested_calls, 0, 0, log.first_key, last_key_});
    if (c.abandoned_calls != 0) {
      put_gap(thread, 4, {c.abandoned_calls, 0, 0, log.first_key, last_key_});
    }
  }
  latencies_.write_thread(thread, log.latencies, out_);
  kernel_.thread_ended(thread);
  threads_.ended(thread);
  logs_[thread].reset();
}

void FrameAggregator::put_gap(std::uint32_t thread, std::uint64_t reason, const drain::Loss& loss) {
  out_.put(trace::Gap{timeline_.frame_at(loss.first_key), thread, reason, loss.events, loss.bytes,
                      loss.ticks, loss.first_key, loss.last_key});
}

void FrameAggregator::advance(std::uint64_t horizon, std::uint64_t now_ms) {
  now_ms_ = now_ms;
  kernel_.advance(horizon, now_ms);
  timeline_.advance(horizon);
  if (keeper_ != nullptr) keeper_->tick(now_ms);
}

void FrameAggregator::finish(std::uint64_t end) {
  kernel_.finish();
  timeline_.finish(std::max(end, last_key_));
  if (keeper_ != nullptr) keeper_->flush();
  sites_.write_new(last_key_, now_ms_);
  latencies_.write_rest(out_);
}

void FrameAggregator::finish_events() {
  if (keeper_ != nullptr) keeper_->finish();
}

}  // namespace hitch::frames
