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

class Counts : public testing::TestWithParam<Program> {};

TEST_P(Counts, EqualAnIndependentCounter) {
  const RunResult run = run_target({.command = GetParam().command, .count = true});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  ASSERT_TRUE(run.counted) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();

  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals counters = counter_totals(trace);
  EXPECT_EQ(counters.allocs, run.counted->allocs);
  EXPECT_EQ(counters.frees, run.counted->frees);
  EXPECT_EQ(counters.reallocs, run.counted->reallocs);
  EXPECT_EQ(counters.null_frees, run.counted->null_frees);

  EXPECT_EQ(dropped(trace), 0u);
  const CallTotals frames = frame_totals(trace);
  EXPECT_EQ(frames.allocs, run.counted->allocs);
  EXPECT_EQ(frames.frees, run.counted->frees);
  EXPECT_EQ(frames.reallocs, run.counted->reallocs);
  ASSERT_TRUE(trace.end);
  EXPECT_EQ(trace.end->reason, 1u);
  EXPECT_EQ(trace.end->status, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, Counts,
    testing::Values(Program{"pairs", {"pairs", "20000"}},
                    Program{"threads_exact", {"threads_exact"}},
                    Program{"loop_new16", {"loop_new16"}},
                    Program{"thread_churn", {"thread_churn"}},
                    Program{"tiny_stack", {"tiny_stack"}}, Program{"altstack", {"altstack"}},
                    Program{"early_boot", {"early_boot"}}, Program{"after_main", {"after_main"}},
                    Program{"thread_exit_tls", {"thread_exit_tls"}},
                    Program{"new_handler", {"new_handler"}}, Program{"own_new", {"own_new"}},
                    Program{"exceptions", {"exceptions"}}, Program{"semantics", {"semantics"}},
                    Program{"dlopen_dlclose", {"dlopen_dlclose"}}, Program{"maps", {"maps"}}),
    [](const auto& test) { return test.param.name; });

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

TEST(CountsTest, RequestedBytesAreExact) {
  const RunResult run = run_target({.command = {"early_boot"}, .count = true});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u);
  ASSERT_TRUE(run.counted);
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace).bytes, run.counted->bytes);
  EXPECT_EQ(frame_totals(trace).bytes, run.counted->bytes + 9000);  // its one realloc
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

TEST(CountsTest, ShortThreadsAreToldApart) {
  const RunResult run = run_target({.command = {"thread_churn"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  // Threads that end free their slot for the next: all of them are told apart in the trace.
  EXPECT_EQ(trace.threads.size(), 10'001u);
  EXPECT_EQ(dropped(trace), 0u);
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
