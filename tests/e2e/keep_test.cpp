// --keep hitches, --max-file, and recording that is paused.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "format/hitch_rule.h"
#include "support/trace_facts.h"
#include "viewer/load/event_stream.h"

namespace hitch::support {
namespace {

struct KeptEvents {
  load::EventStreamResult result;
  std::set<std::uint64_t> frames;  // that have an event
};

KeptEvents kept_events(const std::string& path, const model::Trace& trace) {
  KeptEvents kept;
  auto source = load::open_file(path);
  EXPECT_TRUE(source);
  auto reader = load::TraceReader::open(*source);
  EXPECT_TRUE(reader);
  kept.result = load::for_each_event_block(*reader, [&](const load::EventBlock& block) {
    for (const format::KeptEvent& event : block.events) {
      for (const model::Frame& frame : trace.frames) {
        if (event.key > frame.begin && event.key <= frame.end) kept.frames.insert(frame.number);
      }
    }
  });
  return kept;
}

// By the recorder's rule, from the wall times in the file.
std::vector<std::uint64_t> hitches_of(const model::Trace& trace) {
  std::vector<std::uint64_t> numbers;
  std::vector<double> ms;
  for (const model::Frame& frame : trace.frames) {
    if (frame.kind != model::FrameKind::kPresent) continue;
    numbers.push_back(frame.number);
    ms.push_back(trace.clock.ns(frame.end - frame.begin) / 1e6);
  }
  std::vector<std::uint64_t> hitches;
  const std::vector<format::HitchVerdict> verdicts = format::judge_frames(ms);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].is_hitch) hitches.push_back(numbers[i]);
  }
  return hitches;
}

TEST(KeepTest, HitchesAreKeptWithTheFramesAroundThem) {
  const RunResult run = run_target({.command = {"paced", "900", "300"},
                                    .run_flags = {"--keep", "hitches", "--keep-around", "5"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const std::vector<std::uint64_t> hitches = hitches_of(trace);
  ASSERT_FALSE(hitches.empty());
  const KeptEvents kept = kept_events(run.traces[0], trace);
  for (const std::uint64_t hitch : hitches) {
    for (std::uint64_t frame = hitch - std::min<std::uint64_t>(hitch - 2, 5);
         frame <= hitch + 5 && frame <= 900; ++frame)
      EXPECT_TRUE(kept.frames.contains(frame)) << "frame " << frame << " of hitch " << hitch;
  }
  // A shared machine makes further hitches, and a block holds a tenth of a second.
  EXPECT_GT(kept.result.skipped, 0u);
  EXPECT_EQ(kept.result.missing, 0u);
  EXPECT_EQ(kept.result.events + kept.result.skipped, recorded(trace));
  EXPECT_TRUE(kept.result.warnings.empty());
  EXPECT_EQ(frame_totals(trace).allocs, counter_totals(trace).allocs);
}

TEST(KeepTest, TheApiPausesAndGoesOn) {
  const RunResult run =
      run_target({.command = {"paced", "600", "0", "200", "400"}, .run_flags = {"--keep", "all"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  ASSERT_EQ(trace.recording.size(), 2u);
  EXPECT_EQ(trace.recording[0].on, 0u);
  EXPECT_EQ(trace.recording[1].on, 1u);
  std::uint64_t between = 0;
  for (const model::Frame& frame : trace.frames)
    between += frame.number > 240 && frame.number < 360 ? 1 : 0;
  EXPECT_EQ(between, 0u);
  EXPECT_TRUE(trace.find_frame(100));
  EXPECT_TRUE(trace.find_frame(500));
  const KeptEvents kept = kept_events(run.traces[0], trace);
  EXPECT_GT(kept.result.skipped, 100u * 40);
  EXPECT_EQ(kept.result.missing, 0u);
  EXPECT_EQ(kept.result.events + kept.result.skipped, recorded(trace));
}

TEST(KeepTest, ARunMayBeginPaused) {
  const RunResult run =
      run_target({.command = {"paced", "300", "0", "0", "200"}, .run_flags = {"--paused"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_FALSE(trace.find_frame(100));
  EXPECT_TRUE(trace.find_frame(280));
}

TEST(KeepTest, ARunMayBeginAtAFrame) {
  const RunResult run =
      run_target({.command = {"paced", "300", "0"}, .run_flags = {"--start-frame", "200"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_FALSE(trace.find_frame(150));
  EXPECT_TRUE(trace.find_frame(280));
}

TEST(KeepTest, ASignalBeginsARunThatIsPaused) {
  const RunResult run = run_target({.command = {"paced", "1000", "0"},
                                    .run_flags = {"--paused"},
                                    .signal_after_ms = 1200,
                                    .signal = SIGUSR1});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  ASSERT_EQ(trace.recording.size(), 2u);
  EXPECT_EQ(trace.recording[1].on, 1u);
  EXPECT_FALSE(trace.frames.empty());
  EXPECT_FALSE(trace.find_frame(10));
}

TEST(KeepTest, TheFileStaysWithinItsLimit) {
  const RunResult run = run_target({.command = {"pairs", "6000000"},
                                    .run_flags = {"--keep", "all", "--max-file", "1"},
                                    .timeout = std::chrono::seconds(100)});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_LE(std::filesystem::file_size(run.traces[0]), std::uintmax_t{2} << 20);
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_TRUE(trace.warnings.empty());
  EXPECT_GT(trace.given_up.events, 0u);
  auto reader = load::TraceReader::open(*load::open_file(run.traces[0]));
  ASSERT_TRUE(reader);
  const load::EventStreamResult result =
      load::for_each_event_block(*reader, [](const load::EventBlock&) {});
  EXPECT_EQ(result.given_up, trace.given_up.events);
  EXPECT_EQ(result.missing, 0u);
  EXPECT_EQ(result.events + result.given_up, recorded(trace));
}

}  // namespace
}  // namespace hitch::support
