#include "support/sample_traces.h"

#include "format/buffer_records.h"
#include "format/histogram.h"

namespace hitch::support {
namespace {

using namespace format;

constexpr std::uint64_t kGrow = 0;
constexpr std::uint64_t kSpawn = 1;
constexpr std::uint64_t kLabel = 2;

FrameSpec usual(std::uint64_t index) {
  FrameSpec spec;
  spec.wall_ms = 10 + 0.3 * noise(index);
  spec.alloc_ms = 0.2;
  spec.allocs = 120;
  spec.others = {{1, 40, 0.05}, {2, 30, 0.04}};
  spec.sites = {{kSpawn, 80, 8000, 0.12, 0, 80}, {kLabel, 40, 1600, 0.06, 0, 40}};
  return spec;
}

void add_outlier(TraceBuilder& trace, std::uint64_t frame, std::uint64_t thread, Op op, double ms,
                 std::uint64_t size, std::uint64_t site, std::uint64_t stack_plus_one) {
  trace::Outlier outlier;
  outlier.begin = trace.now() - trace.ticks(ms);
  outlier.frame = frame;
  outlier.thread = thread;
  outlier.op = static_cast<std::uint64_t>(op);
  outlier.ticks = trace.ticks(ms);
  outlier.size = size;
  outlier.block = 0x7f0000001000;
  outlier.site = site;
  outlier.stack = stack_plus_one;
  trace.add(outlier);
}

}  // namespace

double noise(std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 29;
  return static_cast<double>(x >> 11) / static_cast<double>(1ull << 52) - 1;
}

TraceBuilder sample_mixed() {
  TraceBuilder trace;
  trace.preamble();
  trace.add(trace::Text{1, "level 2 loaded"});
  trace.add(trace::Stack{0, {0x401000, 0x402345, 0x403456}, {1, 1, 1}, 0});
  for (std::uint64_t i = 0; i < 900; ++i) {
    FrameSpec spec = usual(i);
    spec.message = i >= 250 ? 1 : 0;
    switch (i) {
      case kMixedAllocator:
        spec.wall_ms += 15;
        spec.alloc_ms += 14.6;
        spec.allocs += 4000;
        spec.sites[1].allocs += 4000;
        spec.sites[1].bytes += 160'000;
        spec.sites[1].ms += 14.6;
        break;
      case kMixedFaults:
        spec.wall_ms += 9;
        spec.minor_faults = 8600;
        spec.alloc_ms += 0.05;
        spec.sites.push_back({kGrow, 1, 32 << 20, 0.05});
        break;
      case kMixedWorker:
        spec.wall_ms += 8.1;
        spec.waiting_ms = 8;
        spec.other_minor_faults = 7400;
        spec.others[1].alloc_ms = 0.2;
        break;
      case kMixedNotMemory:
        spec.wall_ms += 6.5;
        break;
      case kMixedLock:
        spec.wall_ms += 7;
        spec.alloc_ms += 6.8;
        spec.waiting_ms = 6.7;
        spec.voluntary = 40;
        spec.others[0].alloc_ms = 6;
        spec.sites[0].ms += 6.8;
        break;
      case kMixedWaiting:
        spec.wall_ms += 5;
        spec.waiting_ms = 4.9;
        spec.allocs += 900;
        spec.sites[0].allocs += 900;
        break;
      case kMixedGpu:
        spec.wall_ms += 12;
        spec.present_ms += 12;
        break;
      default:
        break;
    }
    trace.frame(spec);
    if (i == kMixedAllocator) {
      add_outlier(trace, i, 0, Op::kMalloc, 6.2, 48, kLabel, 1);
      add_outlier(trace, i, 0, Op::kRealloc, 3.1, 4096, kGrow, 1);
    }
    if (i == kMixedLock) add_outlier(trace, i, 0, Op::kNew, 6.6, 256, kSpawn, 0);
  }
  trace.add(trace::Histogram{
      2,
      0,
      0,
      {histogram_bucket(60), 90'000, histogram_bucket(900), 990, histogram_bucket(6'200'000), 1}});
  trace.add(trace::Histogram{2, 0, 1, {histogram_bucket(40), 80'000, histogram_bucket(20'000), 5}});
  return trace.finish();
}

TraceBuilder sample_periodic() {
  TraceBuilder trace;
  trace.preamble();
  trace::Module runtime;
  runtime.id = 1;
  runtime.path = "/opt/game/libmonosgen-2.0.so.1";
  trace.add(runtime);
  for (std::uint64_t i = 0; i < 900; ++i) {
    FrameSpec spec;
    spec.wall_ms = 10 + 0.3 * noise(i);
    const auto allocate = [&](std::uint64_t site, double ms) {
      spec.wall_ms += ms;
      spec.alloc_ms += ms;
      spec.allocs += 2000;
      spec.sites.push_back({site, 2000, 64'000, ms});
    };
    if (i % 60 == 40) allocate(kSpawn, 4 + static_cast<double>(i) / 100);
    if (i == kPeriodicFirstTime) allocate(kLabel, 9);
    for (const std::uint64_t at : {77u, 131u, 402u, 555u, 871u}) {
      if (i == at) spec.wall_ms += 4;
    }
    trace.frame(spec);
  }
  return trace.finish();
}

TraceBuilder sample_vsync() {
  TraceBuilder trace;
  trace.preamble();
  for (std::uint64_t i = 0; i < 300; ++i) {
    FrameSpec spec = usual(i);
    const double work = i == 150 ? 13.4 : 9 + 0.1 * noise(i);
    spec.wall_ms = 16.67;
    spec.present_ms = 16.67 - work;
    if (i == 150) {
      spec.alloc_ms += 4;
      spec.sites[0].ms += 4;
    }
    trace.frame(spec);
  }
  return trace.finish();
}

TraceBuilder sample_windows() {
  TraceBuilder trace;
  trace.preamble();
  for (std::uint64_t i = 0; i < 120; ++i) {
    FrameSpec spec = usual(i);
    spec.kind = 1;
    spec.wall_ms = 16.67;
    if (i == 60) {
      spec.alloc_ms = 9;
      spec.allocs = 5000;
      spec.minor_faults = 300;
      spec.sites[0].ms = 8.8;
      spec.sites[0].allocs = 4900;
    }
    trace.frame(spec);
  }
  return trace.finish();
}

TraceBuilder sample_empty() {
  TraceBuilder trace;
  trace.preamble(0, 0);
  return trace.finish();
}

TraceBuilder sample_gaps() {
  TraceBuilder trace;
  trace.preamble();
  for (std::uint64_t i = 0; i < 200; ++i) {
    FrameSpec spec = usual(i);
    const bool lost = i >= 100 && i <= 102;
    if (lost) spec.flags = 3;
    trace.frame(spec);
    if (i % 40 == 39) trace.end_chunk();
    if (lost) {
      trace.add(trace::Gap{i, 1, 1, 5000, 320'000, trace.ticks(0.4), trace.now() - 2'000'000,
                           trace.now() - 1'000'000});
    }
  }
  trace::Counters counters;
  counters.thread = 1;
  counters.allocs = 23'000;
  counters.recorded = 8000;
  counters.dropped = 15'000;
  counters.shed_stacks = 12;
  trace.add(counters);
  return trace.finish();
}

}  // namespace hitch::support
