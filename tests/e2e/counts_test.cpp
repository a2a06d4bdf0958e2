// Totals equal, not close, to what an independent counter beneath the shim saw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

struct Program {
  const char* name;
  std::vector<std::string> command;
};
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

// The same program without the shim, counted.
CallTotals count_plain(const std::vector<std::string>& command) {
  const RunResult plain =
      run_target({.command = command, .launch = Launch::kPlain, .count = Watch::kInFront});
  EXPECT_EQ(plain.exit_status, 0) << plain.describe();
  return plain.counted.value_or(CallTotals{});
}

class Counts : public testing::TestWithParam<Program> {};

TEST_P(Counts, EqualAnIndependentCounter) {
  const CallTotals expected = count_plain(GetParam().command);
  ASSERT_GT(expected.allocs, 0u);
  const RunResult run = run_target({.command = GetParam().command});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();

  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace), expected);
  EXPECT_EQ(dropped(trace), 0u);
  const CallTotals frames = frame_totals(trace);
  EXPECT_EQ(frames.allocs, expected.allocs);
  EXPECT_EQ(frames.frees, expected.frees);
  EXPECT_EQ(frames.reallocs, expected.reallocs);
  ASSERT_TRUE(trace.end);
  EXPECT_EQ(trace.end->reason, 1u);
  EXPECT_EQ(trace.end->status, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Deterministic, Counts,
    testing::Values(Program{"pairs", {"pairs", "20000"}}, Program{"loop_new16", {"loop_new16"}},
                    Program{"altstack", {"altstack"}}, Program{"early_boot", {"early_boot"}},
                    Program{"after_main", {"after_main"}}, Program{"new_handler", {"new_handler"}},
                    Program{"own_new", {"own_new"}}, Program{"exceptions", {"exceptions"}},
                    Program{"semantics", {"semantics"}}),
    [](const auto& test) { return test.param.name; });

// How often the C library allocates for threads depends on how they overlap: counted in the same
// run.
class ThreadCounts : public testing::TestWithParam<Program> {};

TEST_P(ThreadCounts, EqualAnIndependentCounter) {
  const RunResult run = run_target(
      {.command = GetParam().command, .launch = Launch::kBare, .count = Watch::kInFront});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace), *run.counted);
  EXPECT_EQ(recorded(trace) + dropped(trace),
            run.counted->allocs + run.counted->frees + run.counted->reallocs);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadCounts,
                         testing::Values(Program{"threads_exact", {"threads_exact"}},
                                         Program{"tiny_stack", {"tiny_stack"}}),
                         [](const auto& test) { return test.param.name; });

// Beneath the shim arrive the game's calls and the shim's own, its price list and the loading of
// its unwinder among them: all of them, and nothing else.
TEST(CountsTest, AllThatReachesTheAllocatorIsTheGamesOrOurs) {
  const RunResult run = run_target({.command = {"threads_exact"},
                                    .environment = {{"HITCH_OUTLIER_US", "1"}},
                                    .count = Watch::kBeneath});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_FALSE(trace.outliers.empty());
  const format::trace::OwnCalls& own = trace.own_calls;
  EXPECT_GT(own.allocs, 0u);
  const CallTotals totals = counter_totals(trace);
  EXPECT_EQ(totals.allocs + own.allocs, run.counted->allocs);
  EXPECT_EQ(totals.frees + own.frees, run.counted->frees);
  EXPECT_EQ(totals.reallocs + own.reallocs, run.counted->reallocs);
}

// The program's own arithmetic, without a counter in between: the counter and the shim could err
// alike.
TEST(CountsTest, EqualTheProgramsOwnArithmetic) {
  const RunResult run = run_target({.command = {"threads_exact"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u);
  const CallTotals totals = counter_totals(read_trace(run.traces[0]));
  EXPECT_EQ(run.said("calls"), 10'000'000);
  EXPECT_EQ(totals.reallocs, static_cast<std::uint64_t>(run.said("reallocs").value_or(0)));
  // The C library allocates a little for each of the 32 threads.
  const auto allocs = static_cast<std::uint64_t>(run.said("allocs").value_or(0));
  EXPECT_GE(totals.allocs, allocs);
  EXPECT_LE(totals.allocs, allocs + 2 * 32);
}

// Each of its 200 threads makes 61 blocks: 20 while it runs and as its objects go, one of its own,
// and 40 in four rounds of its key's destructor. The C library makes a few more for a thread.
TEST(CountsTest, CallsOfEndingThreadsAreCounted) {
  const RunResult run = run_target({.command = {"thread_exit_tls"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals totals = counter_totals(trace);
  EXPECT_GE(totals.allocs, 200u * 61);
  EXPECT_LE(totals.allocs, 200u * (61 + 2));
  EXPECT_GE(totals.frees, 200u * 61);
  EXPECT_EQ(recorded(trace) + dropped(trace), totals.allocs + totals.frees + totals.reallocs);
}

TEST(CountsTest, BytesOfReallocsAreInTheFramesToo) {
  const CallTotals expected = count_plain({"early_boot"});
  const RunResult run = run_target({.command = {"early_boot"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_EQ(frame_totals(read_trace(run.traces[0])).bytes, expected.bytes + 9000);
}

TEST(CountsTest, NothingIsLeftAlive) {
  const RunResult run = run_target({.command = {"early_boot"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  ASSERT_FALSE(trace.frames.empty());
  EXPECT_EQ(trace.frames.back().live_blocks, 0u);
  EXPECT_EQ(trace.frames.back().live_bytes, 0u);
  EXPECT_EQ(trace.repair.unknown_frees, 0u);
  EXPECT_EQ(trace.repair.malformed, 0u);
}

// A thread's slot is free again once the recorder has read it. A recorder that gets no time on a
// busy machine runs out of them: then those threads' calls are counted together, and not recorded
// one by one.
TEST(CountsTest, ShortThreadsAreToldApart) {
  const RunResult run =
      run_target({.command = {"thread_churn"}, .launch = Launch::kBare, .count = Watch::kInFront});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  ASSERT_TRUE(run.counted);
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals totals = counter_totals(trace);
  EXPECT_EQ(totals.allocs, run.counted->allocs);
  EXPECT_EQ(totals.frees, run.counted->frees);
  EXPECT_EQ(recorded(trace) + dropped(trace), totals.allocs + totals.frees + totals.reallocs);
  if (dropped(trace) == 0) {
    EXPECT_EQ(trace.threads.size(), 10'001u);
  }
  EXPECT_GT(trace.threads.size(), 1'000u);
  EXPECT_EQ(trace.repair.malformed, 0u);
}

TEST(CountsTest, MapCallsOfTheGameAreCounted) {
  const RunResult run = run_target({.command = {"maps"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  std::uint64_t calls = 0;
  for (const auto& [thread, counters] : trace.counters) calls += counters.map_calls;
  EXPECT_EQ(calls, static_cast<std::uint64_t>(run.said("map_calls").value_or(0)));
}

}  // namespace
}  // namespace hitch::support
