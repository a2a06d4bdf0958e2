#include "viewer/model/trace_loader.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "viewer/model/trace_finish.h"

namespace hitch::model {
namespace {

namespace trace = format::trace;

// Numbers are dense in a well-made trace. A number may run ahead of the records that were read (a
// damaged chunk swallowed the others) by this much.
constexpr std::size_t kMaxNumberGap = 1 << 16;

std::uint64_t saturating(std::uint64_t a, std::uint64_t b) { return a + b < a ? ~0ull : a + b; }

class Loader {
 public:
  Loader(Trace& out, LoadLimits limits) : out_(out), limits_(limits) {}

  void operator()(const trace::Meta& r) { out_.meta[r.key] = r.value; }
  void operator()(const trace::Calibration& r) {
    if (room(calibrations_)) calibrations_.push_back(r);
  }
  void operator()(const trace::Text& r) {
    if (r.id != 0) out_.texts[r.id] = r.text;
  }
  void operator()(const trace::Module& r) {
    Module* module = slot(out_.modules, r.id);
    if (module == nullptr) return;
    *module = Module{r.path, r.build_id, r.bias, r.start, r.end, {}};
    for (std::size_t i = 0; i + 2 < r.segments.size(); i += 3) {
      module->segments.push_back({r.segments[i], r.segments[i + 1], r.segments[i + 2]});
    }
  }
  void operator()(const trace::ModuleGone&) {}
  void operator()(const trace::Thread& r) {
    if (Thread* thread = slot(out_.threads, r.id)) *thread = Thread{r.tid, r.name, r.started};
  }
  void operator()(const trace::Site& r) {
    Site* site = slot(out_.sites, r.id);
    if (site == nullptr) return;
    site->address = r.address;
    site->module = optional_id<ModuleId>(r.module);
    site->op = static_cast<std::uint8_t>(std::min<std::uint64_t>(r.op, 0xff));
    site->stack = optional_id<StackId>(r.stack);
  }
  void operator()(const trace::Stack& r) {
    Stack* stack = slot(out_.stacks, r.id);
    if (stack == nullptr) return;
    stack->addresses = r.addresses;
    stack->modules.clear();
    for (std::size_t i = 0; i < r.addresses.size(); ++i) {
      stack->modules.push_back(optional_id<ModuleId>(i < r.modules.size() ? r.modules[i] : 0));
    }
    stack->flags = r.flags;
  }
  void operator()(const trace::Frame& r) {
    if (r.track != 0 || r.kind > 2) return;
    const auto [found, fresh] = frame_at_.try_emplace(r.id, out_.frames.size());
    if (!fresh) {
      amend(out_.frames[found->second], r);
    } else if (room(out_.frames)) {
      out_.frames.push_back(frame_of(r));
    } else {
      frame_at_.erase(found);
    }
  }
  void operator()(const trace::FrameThread& r) {
    if (room(thread_rows_)) thread_rows_.push_back({r.frame, row_of(r)});
  }
  void operator()(const trace::FrameSite& r) {
    SiteTotals* sum = slot(out_.site_totals, r.site);
    if (sum == nullptr) return;
    if (last_site_frame_.size() < out_.site_totals.size()) {
      last_site_frame_.resize(out_.site_totals.size(), ~std::uint64_t{0});
    }
    if (last_site_frame_[r.site] != r.frame) ++sum->frames;
    last_site_frame_[r.site] = r.frame;
    sum->first_frame = std::min(sum->first_frame, r.frame);
    sum->allocs += r.allocs;
    sum->frees += r.frees;
    sum->reallocs += r.reallocs;
    sum->bytes += r.bytes;
    sum->ticks += r.ticks;
    sum->slowest_ticks = std::max(sum->slowest_ticks, r.slowest_ticks);
  }
  void operator()(const trace::FrameTag& r) {
    TagTotals& sum = out_.tags[r.tag];
    sum.calls += r.calls;
    sum.bytes += r.bytes;
    sum.ticks += r.ticks;
  }
  void operator()(const trace::FrameHeap& r) {
    Heap* heap = slot(out_.heaps, r.heap);
    if (heap == nullptr) return;
    heap->allocs += r.allocs;
    heap->frees += r.frees;
    heap->bytes += r.bytes;
    heap->live_blocks = r.live_blocks;
    heap->live_bytes = r.live_bytes;
  }
  void operator()(const trace::Heap& r) {
    if (slot(out_.heaps, r.id) != nullptr) heap_names_[r.id] = r.name;
  }
  void operator()(const trace::Outlier& r) {
    if (!room(out_.outliers)) return;
    Outlier outlier;
    outlier.begin = r.begin;
    outlier.frame = r.frame;
    outlier.thread = ThreadId(std::min<std::uint64_t>(r.thread, 0xffffffff));
    outlier.op = static_cast<std::uint8_t>(std::min<std::uint64_t>(r.op, 0xff));
    outlier.ticks = r.ticks;
    outlier.size = r.size;
    if (r.site < 0xffffffff) outlier.site = SiteId(r.site);
    outlier.stack = optional_id<StackId>(r.stack);
    outlier.faults = r.faults;
    outlier.off_ticks = r.off_ticks;
    outlier.preempted_ticks = std::min(r.preempted_ticks, r.off_ticks);
    outlier.switches_known = r.switches_known != 0;
    out_.outliers.push_back(outlier);
  }
  void operator()(const trace::LargeBlock& r) {
    if (room(out_.large_blocks)) out_.large_blocks.push_back(r);
  }
  void operator()(const trace::FrameFault& r) {
    if (!room(fault_rows_) || r.owner >= format::kFaultOwners || r.kind >= format::kFaultKinds)
      return;
    FrameFault row;
    if (r.thread < 0xffffffff) row.thread = ThreadId(static_cast<std::size_t>(r.thread));
    row.owner = static_cast<format::FaultOwner>(r.owner);
    row.kind = static_cast<format::FaultKind>(r.kind);
    row.id = r.id;
    row.place = optional_id<PlaceId>(r.place);
    row.faults = r.faults;
    row.call_faults = r.call_faults;
    row.waited_faults = r.waited_faults;
    row.age_frames = r.age_frames;
    fault_rows_.push_back({r.frame, row});
  }
  void operator()(const trace::Place& r) {
    if (Place* place = slot(out_.places, r.id))
      *place = {r.address, optional_id<ModuleId>(r.module)};
  }
  void operator()(const trace::CodeSample& r) {
    if (!room(sample_rows_) || r.place >= 0xffffffff) return;
    CodeSample row;
    row.thread = ThreadId(std::min<std::uint64_t>(r.thread, 0xffffffff));
    row.place = PlaceId(static_cast<std::size_t>(r.place));
    row.samples = r.samples;
    sample_rows_.push_back({r.frame, row});
  }
  void operator()(const trace::FaultPrice& r) {
    if (r.price_class < format::kFaultPriceClasses && r.in_game <= 1)
      out_.fault_prices[{r.price_class, r.in_game}] = r;
  }
  void operator()(const trace::SiteChurn& r) {
    if (room(out_.churn)) out_.churn.push_back(r);
  }
  void operator()(const trace::ThreadFaults& r) { out_.thread_faults[r.thread] = r; }
  void operator()(const trace::Message&) {}
  // A later record of the same key replaces the earlier one: histograms are cumulative.
  void operator()(const trace::Histogram& r) {
    if (r.op < kCallKinds) histograms_[{r.scope, r.id, r.op}] = r.buckets;
  }
  void operator()(const trace::Gap& r) {
    if (room(out_.gaps)) out_.gaps.push_back(r);
  }
  void operator()(const trace::Counters& r) { out_.counters[r.thread] = r; }
  void operator()(const trace::Repair& r) { out_.repair = r; }
  void operator()(const trace::OwnCalls& r) { out_.own_calls = r; }
  void operator()(const trace::Events&) { out_.has_events = true; }
  void operator()(const trace::GivenUp& r) {
    out_.given_up.frames = std::max(out_.given_up.frames, r.frames);
    out_.given_up.events += r.events;
    out_.given_up.bytes += r.bytes;
  }
  void operator()(const trace::MemorySample& r) {
    if (room(out_.memory)) out_.memory.push_back(r);
  }
  void operator()(const trace::HeapSample& r) {
    if (room(out_.heap_samples)) out_.heap_samples.push_back(r);
  }
  void operator()(const trace::Recording& r) {
    if (room(out_.recording)) out_.recording.push_back(r);
  }
  void operator()(const trace::StackChecks& r) { out_.stack_checks = r; }
  void operator()(const trace::End& r) { out_.end = r; }

  void finish(std::uint64_t header_hz) {
    out_.clock = Clock(header_hz, calibrations_);
    const std::size_t sites = std::max(out_.sites.size(), out_.site_totals.size());
    out_.sites.resize(sites);
    out_.site_totals.resize(sites);
    for (const auto& [id, text] : heap_names_) out_.heaps[id].name = out_.text(text);
    sort_frames();
    leave_out_given_up(out_);
    index_frame_threads(out_);
    drop_dangling(out_);
    sum_histograms();
    if (left_out_ > 0) {
      out_.warnings.push_back(std::to_string(left_out_) +
                              " records are beyond what this report holds or name things that do "
                              "not exist; they are missing from the numbers");
    }
  }

 private:
  template <class T>
  bool room(const std::vector<T>& rows) {
    if (rows.size() < limits_.rows) return true;
    ++left_out_;
    return false;
  }

  template <class T>
  T* slot(std::vector<T>& list, std::uint64_t number) {
    if (number >= list.size()) {
      if (number - list.size() > kMaxNumberGap || number >= limits_.rows) {
        ++left_out_;
        return nullptr;
      }
      list.resize(static_cast<std::size_t>(number) + 1);
    }
    return &list[static_cast<std::size_t>(number)];
  }

  template <class Id>
  static std::optional<Id> optional_id(std::uint64_t number_plus_one) {
    if (number_plus_one == 0 || number_plus_one > 0xffffffff) return std::nullopt;
    return Id(static_cast<std::size_t>(number_plus_one - 1));
  }

  static Frame frame_of(const trace::Frame& r) {
    Frame frame;
    frame.number = r.id;
    frame.begin = r.begin;
    frame.end = r.end;
    frame.kind = static_cast<FrameKind>(r.kind);
    frame.api = static_cast<std::uint8_t>(std::min<std::uint64_t>(r.api, 0xff));
    frame.thread = optional_id<ThreadId>(r.thread);
    add_counts(frame, r);
    frame.live_blocks = r.live_blocks;
    frame.live_bytes = r.live_bytes;
    frame.message = r.message;
    return frame;
  }

  static void amend(Frame& frame, const trace::Frame& r) {
    add_counts(frame, r);
    if (r.live_blocks != 0) frame.live_blocks = r.live_blocks;
    if (r.live_bytes != 0) frame.live_bytes = r.live_bytes;
    if (r.message != 0) frame.message = r.message;
    if (!frame.thread) frame.thread = optional_id<ThreadId>(r.thread);
  }

  static void add_counts(Frame& frame, const trace::Frame& r) {
    frame.flags = static_cast<std::uint8_t>(frame.flags | (r.flags & 0xff));
    frame.present_ticks = saturating(frame.present_ticks, r.present_ticks);
    frame.sleep_ticks = saturating(frame.sleep_ticks, r.sleep_ticks);
    frame.cpu_ns = saturating(frame.cpu_ns, r.cpu_ns);
    frame.present_cpu_ns = saturating(frame.present_cpu_ns, r.present_cpu_ns);
    frame.voluntary = saturating(frame.voluntary, r.voluntary);
    frame.involuntary = saturating(frame.involuntary, r.involuntary);
    frame.minor_faults = saturating(frame.minor_faults, r.minor_faults);
    frame.major_faults = saturating(frame.major_faults, r.major_faults);
    frame.process_minor_faults = saturating(frame.process_minor_faults, r.process_minor_faults);
    frame.process_major_faults = saturating(frame.process_major_faults, r.process_major_faults);
    frame.process_cpu_ns = saturating(frame.process_cpu_ns, r.process_cpu_ns);
    frame.own_ticks = saturating(frame.own_ticks, r.own_ticks);
    frame.present_off_ticks = saturating(frame.present_off_ticks, r.present_off_ticks);
    frame.present_preempted_ticks =
        saturating(frame.present_preempted_ticks, r.present_preempted_ticks);
    frame.pool_chunks = std::max(frame.pool_chunks, r.pool_chunks);
  }

  static FrameThread row_of(const trace::FrameThread& r) {
    FrameThread row;
    row.thread = ThreadId(std::min<std::uint64_t>(r.thread, 0xffffffff));
    row.allocs = r.allocs;
    row.frees = r.frees;
    row.reallocs = r.reallocs;
    row.bytes = r.bytes;
    row.ticks = saturating(saturating(r.alloc_ticks, r.free_ticks), r.realloc_ticks);
    row.slowest_ticks = r.slowest_ticks;
    row.slowest_site = optional_id<SiteId>(r.slowest_site);
    row.map_calls = r.map_calls;
    row.map_bytes = r.map_bytes;
    row.heap_allocs = r.heap_allocs;
    row.heap_bytes = r.heap_bytes;
    row.own_ticks = r.own_ticks;
    row.faults = r.faults;
    row.call_faults = r.call_faults;
    row.major_faults = r.major_faults;
    row.system_faults = r.system_faults;
    row.off_ticks = r.off_ticks;
    row.preempted_ticks = r.preempted_ticks;
    row.call_off_ticks = r.call_off_ticks;
    row.call_preempted_ticks = r.call_preempted_ticks;
    row.blocked_calls = r.blocked_calls;
    row.waited_ticks = r.waited_ticks;
    row.waited_faults = r.waited_faults;
    row.overlap_calls = r.overlap_calls;
    row.overlap_ticks = r.overlap_ticks;
    row.overlap_usual_ticks = r.overlap_usual_ticks;
    row.taken_ticks = r.taken_ticks;
    return row;
  }

  static void add_row(FrameThread& sum, const FrameThread& row) {
    for (const auto member : {&FrameThread::allocs,         &FrameThread::frees,
                              &FrameThread::reallocs,       &FrameThread::bytes,
                              &FrameThread::ticks,          &FrameThread::map_calls,
                              &FrameThread::map_bytes,      &FrameThread::heap_allocs,
                              &FrameThread::heap_bytes,     &FrameThread::own_ticks,
                              &FrameThread::faults,         &FrameThread::call_faults,
                              &FrameThread::major_faults,   &FrameThread::system_faults,
                              &FrameThread::off_ticks,      &FrameThread::preempted_ticks,
                              &FrameThread::call_off_ticks, &FrameThread::call_preempted_ticks,
                              &FrameThread::blocked_calls,  &FrameThread::waited_ticks,
                              &FrameThread::waited_faults,  &FrameThread::overlap_calls,
                              &FrameThread::overlap_ticks,  &FrameThread::overlap_usual_ticks,
                              &FrameThread::taken_ticks}) {
      sum.*member = saturating(sum.*member, row.*member);
    }
    if (row.slowest_ticks > sum.slowest_ticks) {
      sum.slowest_ticks = row.slowest_ticks;
      sum.slowest_site = row.slowest_site;
    }
  }

  void sort_frames() {
    frame_at_.clear();
    std::sort(out_.frames.begin(), out_.frames.end(),
              [](const Frame& a, const Frame& b) { return a.number < b.number; });
    std::uint64_t pictures = 0;
    for (Frame& frame : out_.frames) {
      frame.picture = pictures;
      if (frame.kind == FrameKind::kPresent) ++pictures;
    }
    std::vector<FrameThread> rows;
    place_rows(thread_rows_, rows);
    std::sort(rows.begin(), rows.end(), [](const FrameThread& a, const FrameThread& b) {
      return std::tie(a.frame, a.thread) < std::tie(b.frame, b.thread);
    });
    for (const FrameThread& row : rows) {
      FrameThread* last = out_.frame_threads.empty() ? nullptr : &out_.frame_threads.back();
      if (last != nullptr && last->frame == row.frame && last->thread == row.thread) {
        add_row(*last, row);
      } else {
        out_.frame_threads.push_back(row);
      }
    }
    place_rows(fault_rows_, out_.faults);
    place_rows(sample_rows_, out_.code_samples);
  }

  // Rows that name a frame by its number, into the model in the order of frames.
  template <class Row>
  void place_rows(std::vector<std::pair<std::uint64_t, Row>>& rows, std::vector<Row>& out) {
    for (auto& [number, row] : rows) {
      const std::optional<FrameId> frame = out_.find_frame(number);
      if (!frame) {
        ++left_out_;
        continue;
      }
      row.frame = *frame;
      out.push_back(row);
    }
    rows = {};
    std::stable_sort(out.begin(), out.end(),
                     [](const Row& a, const Row& b) { return a.frame < b.frame; });
  }

  // Scope 2 is the whole run; traces that lack it are summed over the threads.
  void sum_histograms() {
    Latencies threads;
    for (const auto& [key, buckets] : histograms_) {
      const auto& [scope, id, kind] = key;
      if (scope == 0) threads.by_kind[kind].add(buckets);
      if (scope == 1) out_.class_latencies[id].by_kind[kind].add(buckets);
      if (scope == 2) out_.all_latencies.by_kind[kind].add(buckets);
    }
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      if (out_.all_latencies.by_kind[kind].calls() == 0) {
        out_.all_latencies.by_kind[kind] = threads.by_kind[kind];
      }
    }
  }

  Trace& out_;
  LoadLimits limits_;
  std::vector<trace::Calibration> calibrations_;
  std::unordered_map<std::uint64_t, std::size_t> frame_at_;
  std::vector<std::pair<std::uint64_t, FrameThread>> thread_rows_;  // with the frame's number
  std::vector<std::pair<std::uint64_t, FrameFault>> fault_rows_;
  std::vector<std::pair<std::uint64_t, CodeSample>> sample_rows_;
  std::vector<std::uint64_t> last_site_frame_;
  std::map<std::uint64_t, std::uint64_t> heap_names_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>>
      histograms_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

Trace load_trace(load::TraceReader& reader, LoadLimits limits) {
  Trace trace;
  trace.format_minor = reader.header().minor;
  trace.created_realtime_ns = reader.header().created_realtime_ns;
  Loader loader(trace, limits);
  const auto holds_events = [](const format::ChunkFrame& chunk) {
    return chunk.content == static_cast<std::uint16_t>(format::ChunkContent::kEvents);
  };
  for (const load::ChunkPlace& place : reader.chunks()) {
    if (holds_events(place.frame)) trace.has_events = true;
  }
  reader.for_each_record([&](const auto& record) { loader(record); },
                         [&](const format::ChunkFrame& chunk) { return !holds_events(chunk); });
  loader.finish(reader.header().tsc_hz);
  trace.warnings.insert(trace.warnings.begin(), reader.warnings().begin(), reader.warnings().end());
  if (reader.unknown_records() > 0) {
    trace.warnings.push_back(std::to_string(reader.unknown_records()) +
                             " records are of kinds this version does not know: a newer hitchtrace "
                             "wrote them; they were skipped");
  }
  return trace;
}

}  // namespace hitch::model
