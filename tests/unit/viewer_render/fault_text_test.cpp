// Page faults in sentences and tables.
#include "viewer/render/fault_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/trace_builder.h"
#include "viewer/render/text_report.h"

namespace hitch::render {
namespace {

namespace trace = format::trace;
using format::FaultKind;
using format::FaultOwner;
using support::FrameSpec;
using support::TraceBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kHitch = 150;

// From the one place these traces know.
trace::FrameFault fault_row(std::uint64_t thread, FaultOwner owner, std::uint64_t id,
                            std::uint64_t faults, FaultKind kind = FaultKind::kFirstTouch) {
  trace::FrameFault row = support::fault_row(kHitch, thread, owner, id, faults, kind);
  row.place = 1;
  return row;
}

template <class... Records>
std::string report_with(const std::string& source, const FrameSpec& spec,
                        const Records&... records) {
  TraceBuilder builder;
  builder.preamble().meta("faults.source", source);
  builder.add(trace::Place{0, 0x4012ff, 1}).add(trace::Text{9, "/data/level.pak"});
  for (std::uint64_t i = 0; i < 300; ++i) builder.frame(i == kHitch ? spec : FrameSpec{});
  (builder.add(records), ...);
  auto reader = load::TraceReader::open(load::from_memory(builder.finish().bytes()));
  if (!reader) throw std::runtime_error(reader.error().sentence());
  const analyse::Report report = analyse::build_report(*reader, {}, {});
  SiteNames names(report.trace, offset_namer(report.trace));
  // Wide enough that no sentence is wrapped.
  return text_report(report, "x.hitch", {false, false, 1000}, 10, names);
}

FrameSpec faulting(std::uint64_t faults) {
  FrameSpec spec;
  spec.wall_ms += static_cast<double>(faults) / 1000;
  spec.minor_faults = faults;
  return spec;
}

trace::FrameThread seen(std::uint64_t faults) {
  trace::FrameThread row;
  row.frame = kHitch;
  row.faults = faults;
  return row;
}

TEST(FaultText, AHitchNamesWhoseMemoryHowMuchAndWhoTouched) {
  const std::string text = report_with("perf_event", faulting(5120), seen(5120),
                                       fault_row(0, FaultOwner::kBlock, 1, 5120));
  EXPECT_THAT(text, HasSubstr("5,120 page faults (est. 5.12 ms) first-touching 20.0 MiB from "
                              "game+0x1100 (100 % of the excess), touched by game+0x1300"));
  EXPECT_THAT(text, HasSubstr("Try: allocate and touch the memory of game+0x1100 while loading"));
}

TEST(FaultText, KindsHaveVerbsAndRemediesOfTheirOwn) {
  EXPECT_THAT(report_with("perf_event", faulting(5120), seen(5120),
                          fault_row(0, FaultOwner::kBlock, 1, 5120, FaultKind::kRecycled)),
              HasSubstr("touching again, after the kernel had them back, 20.0 MiB from"));
  const std::string forked =
      report_with("perf_event", faulting(5120), seen(5120),
                  fault_row(0, FaultOwner::kBlock, 1, 5120, FaultKind::kCopyOnWrite));
  EXPECT_THAT(forked, HasSubstr("copying, because the process had forked, 20.0 MiB from"));
  EXPECT_THAT(forked, HasSubstr("Try: fork before the game is large"));
  EXPECT_THAT(report_with("perf_event", faulting(5120), seen(5120),
                          fault_row(0, FaultOwner::kFile, 9, 5120, FaultKind::kMajor)),
              HasSubstr("reading from disk pages of the mapped file /data/level.pak"));
  EXPECT_THAT(report_with("perf_event", faulting(5120), seen(5120),
                          fault_row(0, FaultOwner::kMapping, 2, 5120)),
              HasSubstr("20.0 MiB that the game mapped itself in game+0x1100"));
}

TEST(FaultText, WaitingNamesTheThreadThatFaultedMeanwhile) {
  FrameSpec spec;
  spec.wall_ms += 6;
  spec.waiting_ms = 6;
  spec.other_minor_faults = 5000;
  trace::FrameThread worker = seen(5000);
  worker.thread = 2;
  worker.waited_faults = 5000;
  trace::FrameFault row = fault_row(2, FaultOwner::kBlock, 0, 5000);
  row.waited_faults = 5000;
  EXPECT_THAT(report_with("perf_event", spec, worker, row),
              HasSubstr("while worker-2 spent est. 5.00 ms in 5,000 page faults, most of them "
                        "first-touching 19.5 MiB from game+0x1000"));
}

TEST(FaultText, ChurnIsToldWithItsRemedy) {
  const std::string text =
      report_with("perf_event", FrameSpec{}, fault_row(0, FaultOwner::kBlock, 1, 100),
                  trace::SiteChurn{1, 32, 31, 31, 64 << 20, 15'872, 31});
  EXPECT_THAT(text, HasSubstr("game+0x1100: 32 allocations, 31 munmaps, 15,872 page faults (est. "
                              "15.9 ms, which keeping the memory would save)."));
  EXPECT_THAT(text, HasSubstr("GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432 "));
}

TEST(FaultText, ThePoorerSourceSaysWhatIsMissing) {
  trace::FrameFault row = fault_row(~std::uint64_t{0}, FaultOwner::kBlock, 1, 5120);
  row.place = 0;
  const std::string text =
      report_with("pagemap", faulting(5120), row,
                  trace::Meta{"faults.note", "kernel.perf_event_paranoid is 4; type: sudo this"});
  EXPECT_THAT(text, HasSubstr("first-touching 20.0 MiB from game+0x1100"));
  EXPECT_THAT(text, HasSubstr("not seen: smaller blocks, blocks that lived less than about 2 ms"));
  EXPECT_THAT(text, HasSubstr("Page faults one by one could not be had, only first touches of "
                              "large blocks: kernel.perf_event_paranoid is 4; type: sudo this."));
  EXPECT_THAT(report_with("perf_event", FrameSpec{}), Not(HasSubstr("could not be had")));
}

}  // namespace
}  // namespace hitch::render
