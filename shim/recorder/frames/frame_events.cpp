// The rarer events of FrameAggregator: frames, flushes, outliers, heaps, mappings, texts.
#include <algorithm>
#include <cstring>

#include "recorder/frames/frame_aggregator.h"

namespace hitch::frames {

using drain::Event;
using format::BufferKind;
using resolve::LiveBlock;
namespace trace = format::trace;

namespace {

constexpr std::uint64_t kEventsLost = 1;
constexpr std::uint64_t kStacksShed = 2;
constexpr std::uint64_t kCountersIncomplete = 4;
constexpr std::size_t kMostTags = 64;
constexpr std::size_t kMostTagTexts = 4096;
constexpr std::uint64_t kPageBytes = 4096;

template <class Record>
bool copy_record(const Event& event, Record& record) {
  if (event.words == nullptr || event.word_count * std::size_t{8} < sizeof(record)) return false;
  std::memcpy(&record, event.words, sizeof(record));
  return true;
}

// Difference of two cumulative counters of an untrusted source.
template <class Number>
std::uint64_t since(Number now, Number before) {
  return now > before ? static_cast<std::uint64_t>(now - before) : 0;
}

}  // namespace

void FrameAggregator::rare(const Event& event) {
  switch (event.kind) {
    case BufferKind::kStack:
      return stack(event);
    case BufferKind::kReallocBegin:
      return realloc_begin(event);
    case BufferKind::kReallocMoved:
    case BufferKind::kReallocInPlace:
    case BufferKind::kReallocFailed:
    case BufferKind::kReallocFreed:
      return realloc_end(event);
    case BufferKind::kHeapAlloc:
    case BufferKind::kHeapFree:
      return heap_event(event);
    case BufferKind::kHeapReset: {
      const std::uint32_t heap = heaps_.id(static_cast<std::uint32_t>(event.words[1]));
      FrameRows& rows = timeline_.at(event.key).rows;
      const std::uint64_t blocks = heaps_.reset(heap);
      rows.heap_row(heap).frees += blocks;
      thread_row(log_of(event.thread), event.thread, rows).heap_frees += blocks;
      return;
    }
    case BufferKind::kHeapDefine: {
      format::TextRecord record;
      if (!copy_record(event, record)) return;
      heaps_.define(record.id, record.aux, resolve::text_of_record(event.words, event.word_count));
      return;
    }
    case BufferKind::kMap:
    case BufferKind::kUnmap:
    case BufferKind::kRemap:
      return map_event(event);
    case BufferKind::kFrame:
      return present(event);
    case BufferKind::kFlush:
      return flush(event);
    case BufferKind::kOutlier:
      return outlier(event);
    case BufferKind::kMessage:
      return message(event);
    case BufferKind::kTagDefine: {
      format::TextRecord record;
      if (!copy_record(event, record) || tag_texts_.size() >= kMostTagTexts) return;
      tag_texts_.try_emplace(record.id,
                             texts_.id(resolve::text_of_record(event.words, event.word_count)));
      return;
    }
    case BufferKind::kTagPush: {
      ThreadLog& log = log_of(event.thread);
      if (log.tags.size() >= kMostTags) {
        ++log.tags_refused;
        return;
      }
      const auto id = static_cast<std::uint32_t>(event.words[1]);
      const auto known = tag_texts_.find(id);
      log.tags.push_back(known != tag_texts_.end() ? known->second : texts_.id("(unknown tag)"));
      return;
    }
    case BufferKind::kTagPop: {
      ThreadLog& log = log_of(event.thread);
      if (log.tags_refused > 0) {
        --log.tags_refused;
      } else if (!log.tags.empty()) {
        log.tags.pop_back();
      }
      return;
    }
    case BufferKind::kModule:
      sites_.write_new(event.key, now_ms_);
      modules_.loaded(event.words, event.word_count);
      forget_reused_addresses();
      stacks_.write_found();
      return sites_.write_found();
    case BufferKind::kModuleGone:
      // The calls so far came from what is still known to lie there.
      sites_.write_new(event.key, now_ms_);
      modules_.unloaded(event.words[1], event.key);
      return;
    case BufferKind::kRequest:
      if (on_request_)
        on_request_(event.words[1] == static_cast<std::uint64_t>(format::RequestKind::kStart));
      return;
    case BufferKind::kGapEnd:
      log_of(event.thread).path.clear();
      return forget_open_calls(log_of(event.thread));
    default:
      return;
  }
}

void FrameAggregator::stack(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  std::vector<resolve::Stacks::Node>& path = log.path;
  const auto kept = static_cast<std::size_t>(event.words[1] >> 48 & 0xff);
  const auto fresh = static_cast<std::size_t>(event.words[1] >> 56);
  OpenFrame& frame = timeline_.at(event.key);
  if (kept + fresh == 0) frame.record.flags |= kStacksShed;
  thread_row(log, event.thread, frame.rows).fresh_entries += fresh;
  // Part of the thread's records was lost with a garbled chunk: not known until a whole one comes.
  if (kept > path.size()) return path.clear();
  path.resize(kept);
  for (std::size_t i = 0; i < fresh && i + 1 < event.word_count; ++i) {
    const resolve::Stacks::Node parent = path.empty() ? 0 : path.back();
    path.push_back(stacks_.child(parent, event.words[1 + i] & format::kAddressMask));
  }
}

void FrameAggregator::forget_reused_addresses() {
  for (const resolve::AddressRange& range : modules_.take_reused()) {
    stacks_.forget(range);
    sites_.forget(range);
    kernel_.forget_places();
    for (const auto& log : logs_) {
      if (log != nullptr) log->sites.clear();
    }
  }
}

void FrameAggregator::heap_event(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  const std::uint32_t heap = heaps_.id(event.heap);
  FrameRows& rows = timeline_.at(event.key - std::min(event.ticks, event.key)).rows;
  ThreadRow& row = thread_row(log, event.thread, rows);
  HeapRow& sums = rows.heap_row(heap);
  if (event.kind == BufferKind::kHeapAlloc) {
    ++row.heap_allocs;
    row.heap_bytes += event.size;
    ++sums.allocs;
    sums.bytes += event.size;
    heaps_.ledger(heap).allocated(event.thread, event.key, event.block, {event.size, 0});
  } else {
    ++row.heap_frees;
    ++sums.frees;
    LiveBlock block{};
    heaps_.ledger(heap).released(event.thread, event.key, event.block, block);
  }
}

void FrameAggregator::map_event(const Event& event) {
  ThreadLog& log = log_of(event.thread);
  settle_free(log, event.thread, event.previous_free_ticks);
  OpenFrame& frame = timeline_.at(event.key - std::min(event.ticks, event.key));
  ThreadRow& row = thread_row(log, event.thread, frame.rows);
  ++row.map_calls;
  const std::uint64_t bytes = event.size * kPageBytes;
  if (event.kind == BufferKind::kUnmap) return kernel_.mmaps().unmapped(event.block, bytes);
  row.map_bytes += bytes;
  const std::uint32_t site = sites_.id({event.caller, 0, resolve::SiteClass::kMap}, event.op);
  kernel_.mmaps().mapped(event.block, bytes, site);
  if (bytes >= config_.large_block_bytes) {
    put_large_block(event.key, frame.record.id, event.thread, event, bytes, site);
  }
}

void FrameAggregator::present(const Event& event) {
  format::FrameRecord record;
  if (!copy_record(event, record)) return;
  const auto api = static_cast<format::Api>(record.api);
  trace::Frame measured;
  measured.present_ticks = since(event.key, record.present_entry);
  if (!last_present_ || last_presenter_ != event.thread) {
    measured.flags = kCountersIncomplete;
  } else {
    const format::FrameRecord& last = *last_present_;
    measured.sleep_ticks = since(record.sleep_ticks, last.sleep_ticks);
    measured.cpu_ns = since(record.cpu_ns, last.cpu_ns);
    measured.present_cpu_ns = since(record.cpu_ns, record.cpu_ns_at_entry);
    measured.voluntary = since(record.voluntary, last.voluntary);
    measured.involuntary = since(record.involuntary, last.involuntary);
    measured.minor_faults = since(record.minor_faults, last.minor_faults);
    measured.major_faults = since(record.major_faults, last.major_faults);
    measured.process_minor_faults = since(record.process_minor_faults, last.process_minor_faults);
    measured.process_major_faults = since(record.process_major_faults, last.process_major_faults);
    measured.process_cpu_ns = since(record.process_cpu_ns, last.process_cpu_ns);
    if (kernel_.ignores_faults()) {
      measured.minor_faults = measured.major_faults = 0;
      measured.process_minor_faults = measured.process_major_faults = 0;
    }
  }
  if (!picker_.is_boundary(event.thread, api)) return;
  const OffTime off = kernel_.presented(event.thread, record.present_entry, event.key);
  measured.present_off_ticks = off.ticks;
  measured.present_preempted_ticks = off.preempted_ticks;
  last_present_ = record;
  last_presenter_ = event.thread;
  timeline_.cut_at_present(record, event.thread, measured);
}

// Heaps' states and live blocks as they are at the frame's end.
void FrameAggregator::complete_frame(OpenFrame& frame) {
  frame.record.live_blocks = blocks_.live().count();
  frame.record.live_bytes = blocks_.live().bytes();
  frame.record.message = last_message_;
  for (auto& [heap, row] : frame.rows.heap_rows()) {
    row.live_blocks = heaps_.ledger(heap).live().count();
    row.live_bytes = heaps_.ledger(heap).live().bytes();
  }
}

void FrameAggregator::add_flushed(FrameRows& rows, std::uint32_t thread, std::uint64_t allocs,
                                  std::uint64_t frees, std::uint64_t reallocs, std::uint64_t bytes,
                                  std::uint64_t ticks) {
  if ((allocs | frees | reallocs | bytes) == 0) return;
  ThreadRow& row = rows.thread_row(rows.thread_number(thread));
  row.allocs += allocs;
  row.frees += frees;
  row.reallocs += reallocs;
  row.bytes += bytes;
  const std::uint64_t price = (allocs + frees + reallocs) * pair_floor_;
  row.alloc_ticks += ticks - std::min(ticks, price);
}

void FrameAggregator::flush(const Event& event) {
  format::FlushRecord record;
  if (!copy_record(event, record)) return;
  ThreadLog& log = log_of(event.thread);
  log.flushed_allocs += record.allocs;
  log.flushed_frees += record.frees;
  log.flushed_reallocs += record.reallocs;
  log.flushed_bytes += record.bytes;
  add_flushed(timeline_.rows_of(timeline_.frame_of_epoch(record.epoch)), event.thread,
              record.allocs, record.frees, record.reallocs, record.bytes, record.ticks);
}

void FrameAggregator::outlier(const Event& event) {
  format::OutlierRecord record;
  if (!copy_record(event, record)) return;
  ThreadLog& log = log_of(event.thread);
  const auto op = static_cast<format::Op>(record.caller_op >> 48 & 0xf);
  const resolve::SiteClass site_class = op == format::Op::kRealloc && event.word_count > 0
                                            ? resolve::SiteClass::kRealloc
                                            : resolve::class_of(op);
  const std::uint64_t address = record.caller_op & format::kAddressMask;
  trace::Outlier out;
  out.begin = event.key - std::min(record.duration, event.key);
  OpenFrame& frame = timeline_.at(out.begin);
  out.frame = frame.record.id;
  out.thread = event.thread;
  out.op = static_cast<std::uint64_t>(op);
  out.ticks = net(record.duration);
  out.size = record.size;
  out.block = record.block & format::kAddressMask;
  if (site_class == resolve::SiteClass::kFree && out.size == 0 && log.freed_address == out.block) {
    out.size = log.freed_size;
  }
  const bool by_stack = site_class != resolve::SiteClass::kFree;
  out.site = sites_.id({address, by_stack ? log.stack() : 0, site_class}, op);
  out.stack = stacks_.id_plus_one(log.stack(), event.key, now_ms_);
  out.tag = log.tag();
  if (kernel_.sees_switches()) {
    const KernelLog::CallFacts facts = kernel_.facts_of(*log.kernel, record.duration, event.key);
    out.faults = facts.faults;
    out.off_ticks = facts.off.ticks;
    out.preempted_ticks = facts.off.preempted_ticks;
    out.switches_known = 1;
  }
  sites_.write_new(event.key, now_ms_);
  out_.put(out);
  if (on_outlier_) on_outlier_(out);
}

void FrameAggregator::message(const Event& event) {
  const std::string text = resolve::text_of_record(event.words, event.word_count);
  last_message_ = texts_.id(text);
  out_.put(
      trace::Message{event.key, timeline_.at(event.key).record.id, event.thread, last_message_});
}

void FrameAggregator::on_loss(std::uint32_t thread, const drain::Loss& loss) {
  timeline_.mark(loss.first_key, loss.last_key, kEventsLost);
  put_gap(thread, 1, loss);
}

}  // namespace hitch::frames
