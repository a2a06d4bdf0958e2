// The C API under the shim and without it.
#include <gtest/gtest.h>

#include <map>

#include "format/buffer_records.h"
#include "support/trace_facts.h"

namespace hitch::support {
namespace {

class Marks : public testing::TestWithParam<const char*> {};

TEST_P(Marks, AreInertWithoutTheShim) {
  const RunResult plain = run_target({.command = {GetParam()}, .launch = Launch::kPlain});
  EXPECT_EQ(plain.exit_status, 0) << plain.describe();
  EXPECT_EQ(plain.said("recording"), 0);
  EXPECT_EQ(plain.said("heap"), 0);
}

TEST_P(Marks, MakeFramesTagsMessagesAndHeaps) {
  const RunResult run = run_target({.command = {GetParam()}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("recording"), 1) << run.describe();
  EXPECT_EQ(run.said("heap"), 1) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);

  std::size_t frame = 1;  // the first mark ends start-up, not a frame
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind != model::FrameKind::kPresent) continue;
    EXPECT_EQ(trace.frames[i].api, static_cast<std::uint8_t>(format::Api::kMark));
    std::uint64_t allocs = 0, heap_allocs = 0;
    for (const model::FrameThread& row : trace.threads_of(model::FrameId(i))) {
      allocs += row.allocs;
      heap_allocs += row.heap_allocs;
    }
    EXPECT_EQ(allocs, frame + 1) << "frame " << i;
    EXPECT_EQ(heap_allocs, 2u) << "frame " << i;
    EXPECT_EQ(trace.text(trace.frames[i].message), frame < 10 ? "" : "half way") << "frame " << i;
    ++frame;
  }
  EXPECT_EQ(frame, 20u);

  ASSERT_EQ(trace.heaps.size(), 1u);
  EXPECT_EQ(trace.heaps[0].name, "arena");
  EXPECT_EQ(trace.heaps[0].allocs, 40u);
  EXPECT_EQ(trace.heaps[0].frees, 40u);
  EXPECT_EQ(trace.heaps[0].bytes, 40u * 64);
  EXPECT_EQ(trace.heaps[0].live_blocks, 0u);

  ASSERT_EQ(trace.tags.size(), 1u);
  EXPECT_EQ(trace.text(trace.tags.begin()->first), "frame work");
  EXPECT_EQ(trace.tags.begin()->second.calls, 2u * 210);
}

INSTANTIATE_TEST_SUITE_P(Builds, Marks, testing::Values("marks", "marks_no_pie"),
                         [](const auto& test) { return test.param; });

TEST(MarksTest, HelloFramesDoesWhatItsCommentSays) {
  const RunResult run = run_target({.command = {HITCH_EXAMPLES_DIR "/hello_frames/hello_frames"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_NE(run.out.find("60 frames"), std::string::npos);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  std::size_t frame = 1;  // the first mark ends start-up, not a frame
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind != model::FrameKind::kPresent) continue;
    const std::uint64_t more = frame == 40 ? 2000 : 0;
    std::uint64_t allocs = 0, frees = 0, reallocs = 0, bytes = 0;
    for (const model::FrameThread& row : trace.threads_of(model::FrameId(i))) {
      allocs += row.allocs;
      frees += row.frees;
      reallocs += row.reallocs;
      bytes += row.bytes;
    }
    EXPECT_EQ(allocs, 4 + more) << "frame " << i;
    EXPECT_EQ(frees, 4 + more) << "frame " << i;
    EXPECT_EQ(reallocs, 1u) << "frame " << i;
    EXPECT_EQ(bytes, 64 + 128 + 256 + 512 + 1024 + 48 * more) << "frame " << i;
    ++frame;
  }
  EXPECT_EQ(frame, 60u);
}

TEST(MarksTest, CustomHeapIsReportedAndNeverCountedTwice) {
  const RunResult run = run_target({.command = {HITCH_EXAMPLES_DIR "/custom_heap/custom_heap"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(frames_of_kind(trace, model::FrameKind::kPresent), 119u);
  std::map<std::string, model::Heap> heaps;
  for (const model::Heap& heap : trace.heaps) heaps[heap.name] = heap;
  EXPECT_EQ(heaps["frame arena"].allocs, 120u * 200);
  EXPECT_EQ(heaps["frame arena"].frees, 120u * 200);
  EXPECT_EQ(heaps["frame arena"].live_bytes, 0u);
  EXPECT_EQ(heaps["bullets"].allocs, 120u * 50);
  EXPECT_EQ(heaps["bullets"].frees, 120u * 50);
  EXPECT_EQ(heaps["level arena"].allocs, 1u);
  EXPECT_EQ(heaps["level arena"].live_blocks, 1u);
  // Two arenas' blocks, stdio's buffer, and what the C++ library keeps for exceptions: the heaps'
  // blocks lie inside.
  EXPECT_LE(counter_totals(trace).allocs, 8u);
}

}  // namespace
}  // namespace hitch::support
