// Everything a report needs of a trace, in memory. Rows of a call site in a frame are the one thing
// left in the file (frame_sites.h): they grow with frames x sites.
//
// Durations stay in ticks as recorded; Clock converts. 200,000 frames take about 60 MB.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/fault_kinds.h"
#include "format/trace_records.h"
#include "viewer/model/clock.h"
#include "viewer/model/histogram.h"
#include "viewer/model/ids.h"
#include "viewer/model/module.h"

namespace hitch::model {

enum class FrameKind : std::uint8_t { kPresent = 0, kWindow = 1, kUnfinished = 2 };

constexpr std::uint64_t kEventsLost = 1;
constexpr std::uint64_t kStacksShed = 2;
constexpr std::uint64_t kCountersIncomplete = 4;

struct Frame {
  std::uint64_t number = 0;   // as the trace names it
  std::uint64_t picture = 0;  // how many picture frames came before: what people call its number
  FrameKind kind = FrameKind::kPresent;
  std::uint8_t api = 0;
  std::uint8_t flags = 0;
  std::optional<ThreadId> thread;  // the presenting one
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t present_ticks = 0;
  std::uint64_t sleep_ticks = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t present_cpu_ns = 0;
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t process_minor_faults = 0;
  std::uint64_t process_major_faults = 0;
  std::uint64_t process_cpu_ns = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t own_ticks = 0;
  std::uint64_t pool_chunks = 0;
  std::uint64_t message = 0;  // Text number, 0: none
  std::uint64_t present_off_ticks = 0;
  std::uint64_t present_preempted_ticks = 0;

  std::uint64_t wall_ticks() const { return end > begin ? end - begin : 0; }
};

// What one thread did in one frame.
struct FrameThread {
  FrameId frame;
  ThreadId thread;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;  // inside the allocator, all calls
  std::uint64_t slowest_ticks = 0;
  std::optional<SiteId> slowest_site;
  std::uint64_t map_calls = 0;
  std::uint64_t map_bytes = 0;
  std::uint64_t heap_allocs = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t own_ticks = 0;
  // Of a trace that has page faults one by one; see FrameThread in FORMAT.md.
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

// Page faults of one thread in one frame, with one owner, of one kind and from one place.
struct FrameFault {
  FrameId frame;
  std::optional<ThreadId> thread;  // none: not known who touched
  format::FaultOwner owner = format::FaultOwner::kUnknown;
  format::FaultKind kind = format::FaultKind::kFirstTouch;
  std::uint64_t id = 0;  // Site, Module or Text number, as the owner says
  std::optional<PlaceId> place;
  std::uint64_t faults = 0;
  std::uint64_t call_faults = 0;
  std::uint64_t waited_faults = 0;
  std::uint64_t age_frames = 0;
};

// An instruction of the game.
struct Place {
  std::uint64_t address = 0;
  std::optional<ModuleId> module;
};

// Samples of what a thread computed in a frame that hitched: one a millisecond.
struct CodeSample {
  FrameId frame;
  ThreadId thread;
  PlaceId place;
  std::uint64_t samples = 0;
};

struct Thread {
  std::uint64_t tid = 0;
  std::string name;
  std::uint64_t started = 0;
};

struct Site {
  std::uint64_t address = 0;  // return address; 0: unknown
  std::optional<ModuleId> module;
  std::uint8_t op = 0;
  std::optional<StackId> stack;  // the whole callstack; none: told apart by the address alone
  std::uint64_t stacks = 0;      // of a group (site_groups.h): how many members with one
  std::string name;              // of a group that is no single place; empty: by the address
  std::uint64_t place = 0;       // of a group: the same for all groups of one function
};

// Sums of one call site over the whole run.
struct SiteTotals {
  std::uint64_t frames = 0;  // in which it was called; of a group: in at least so many
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::uint64_t slowest_ticks = 0;
  std::uint64_t first_frame = ~std::uint64_t{0};  // number of the first it was called in

  std::uint64_t calls() const { return allocs + frees + reallocs; }
};

struct Stack {
  std::vector<std::uint64_t> addresses;          // innermost first
  std::vector<std::optional<ModuleId>> modules;  // of each
  std::uint64_t flags = 0;                       // format::kStackIsCut, format::kStackIsTruncated
};

// How many calls have a callstack, and how many of those are not whole.
struct StackQuality {
  std::uint64_t calls = 0;
  std::uint64_t truncated_calls = 0;
  std::uint64_t cut_calls = 0;
  std::map<ModuleId, std::uint64_t> truncated_in;  // by the module of the last entry
};

struct Outlier {
  std::uint64_t begin = 0;
  std::uint64_t frame = 0;  // number
  ThreadId thread;
  std::uint8_t op = 0;
  std::uint64_t ticks = 0;
  std::uint64_t size = 0;
  std::optional<SiteId> site;
  std::optional<StackId> stack;
  std::uint64_t faults = 0;
  std::uint64_t off_ticks = 0;
  std::uint64_t preempted_ticks = 0;
  bool switches_known = false;
};

struct Heap {
  std::string name;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
};

// What option max_file took out of the file again.
struct GivenUp {
  std::uint64_t frames = 0;  // numbered below; they are not in Trace::frames
  std::uint64_t ticks = 0;   // how long they lasted, first to last
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

struct TagTotals {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
};

// By kind of call, as Histogram records number them.
constexpr std::size_t kCallKinds = 3;
struct Latencies {
  Histogram by_kind[kCallKinds];  // allocations, releases, reallocs
};

struct Trace {
  std::uint16_t format_minor = 0;
  std::uint64_t created_realtime_ns = 0;
  Clock clock;
  std::map<std::string, std::string> meta;
  std::map<std::uint64_t, std::string> texts;
  std::vector<Module> modules;
  std::vector<Thread> threads;
  std::vector<Site> sites;
  std::vector<SiteTotals> site_totals;  // one for each site
  std::vector<SiteId> group_of_site;    // by the file's site; empty: sites are not grouped
  StackQuality stack_quality;           // known once sites are grouped
  std::vector<Stack> stacks;
  std::vector<Frame> frames;                    // in order of their numbers
  std::vector<FrameThread> frame_threads;       // by frame, then thread; each pair once
  std::vector<std::size_t> frame_thread_begin;  // first row of each frame; one more than frames
  std::vector<FrameFault> faults;               // by frame
  std::vector<Place> places;
  std::vector<CodeSample> code_samples;  // by frame
  std::vector<format::trace::SiteChurn> churn;
  std::map<std::uint64_t, format::trace::ThreadFaults> thread_faults;  // last of each thread
  // Last of each class and source.
  std::map<std::pair<std::uint64_t, std::uint64_t>, format::trace::FaultPrice> fault_prices;
  std::vector<Outlier> outliers;
  std::vector<format::trace::LargeBlock> large_blocks;
  std::vector<Heap> heaps;
  std::map<std::uint64_t, TagTotals> tags;             // by Text number of the tag's name
  Latencies all_latencies;                             // of the whole run
  std::map<std::uint64_t, Latencies> class_latencies;  // by the size class's upper bound
  std::vector<format::trace::Gap> gaps;
  std::map<std::uint64_t, format::trace::Counters> counters;  // last of each thread
  format::trace::Repair repair;
  format::trace::OwnCalls own_calls;
  format::trace::StackChecks stack_checks;
  GivenUp given_up;
  std::vector<format::trace::MemorySample> memory;  // in order of time
  std::vector<format::trace::HeapSample> heap_samples;
  std::vector<format::trace::Recording> recording;  // pauses
  bool has_events = false;  // the file has them one by one (load/event_stream.h)
  std::optional<format::trace::End> end;
  std::vector<std::string> warnings;  // what could not be read or made no sense

  std::span<const FrameThread> threads_of(FrameId frame) const {
    const std::size_t first = frame_thread_begin[frame.index()];
    return {frame_threads.data() + first, frame_thread_begin[frame.index() + 1] - first};
  }
  std::span<const FrameFault> faults_of(FrameId frame) const;
  std::span<const CodeSample> samples_of(FrameId frame) const;
  std::optional<FrameId> find_frame(std::uint64_t number) const;
  // A Meta value, or `fallback`.
  std::string fact(const std::string& key, const std::string& fallback = "") const;
  double fact_number(const std::string& key, double fallback) const;
  std::string text(std::uint64_t number) const;
};

}  // namespace hitch::model
