// However a game ends, its trace is whole, exact and says how.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

constexpr std::uint64_t kExited = 1;
constexpr std::uint64_t kKilled = 2;

struct Ending {
  const char* way;
  int exit_status;  // or 0
  int signal;       // or 0
};
void PrintTo(const Ending& ending, std::ostream* out) { *out << ending.way; }

class Endings : public testing::TestWithParam<Ending> {};

void expect_all_calls(const RunResult& run, const Ending& ending) {
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_TRUE(trace.warnings.empty()) << trace.warnings.front();
  const CallTotals totals = counter_totals(trace);
  if (ending.way == std::string("pthread_exit")) {  // loads libgcc_s
    EXPECT_GE(totals.allocs, 20'000u);
    EXPECT_LE(totals.allocs, 20'020u);
  } else {
    EXPECT_EQ(totals.allocs, 20'000u);
    EXPECT_EQ(totals.frees, 20'000u);
  }
  EXPECT_EQ(frame_totals(trace).allocs, totals.allocs);
  EXPECT_EQ(frame_totals(trace).frees, totals.frees);
  EXPECT_EQ(dropped(trace), 0u);
}

TEST_P(Endings, UnderRunLeaveAWholeTraceAndTheStatus) {
  const Ending ending = GetParam();
  const RunResult run = run_target({.command = {"ending", ending.way}});
  if (ending.signal == 0) {
    EXPECT_EQ(run.exit_status, ending.exit_status) << run.describe();
  } else {
    const bool passed_on = run.signal == ending.signal || run.exit_status == 128 + ending.signal;
    EXPECT_TRUE(passed_on) << run.describe();
  }
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  expect_all_calls(run, ending);
  if (HasFatalFailure()) return;

  const model::Trace trace = read_trace(run.traces[0]);
  ASSERT_TRUE(trace.end);
  EXPECT_EQ(trace.end->reason, ending.signal == 0 ? kExited : kKilled);
  EXPECT_EQ(trace.end->status,
            static_cast<std::uint64_t>(ending.signal == 0 ? ending.exit_status : ending.signal));
}

TEST_P(Endings, PreloadedBareLeaveAWholeTrace) {
  const Ending ending = GetParam();
  const RunResult run = run_target({.command = {"ending", ending.way}, .launch = Launch::kBare});
  if (ending.signal == 0)
    EXPECT_EQ(run.exit_status, ending.exit_status) << run.describe();
  else
    EXPECT_EQ(run.signal, ending.signal) << run.describe();
  expect_all_calls(run, ending);
}

INSTANTIATE_TEST_SUITE_P(Ways, Endings,
                         testing::Values(Ending{"exit", 4, 0}, Ending{"_exit", 5, 0},
                                         Ending{"quick_exit", 6, 0}, Ending{"pthread_exit", 0, 0},
                                         Ending{"kill9", 0, SIGKILL}, Ending{"term", 0, SIGTERM},
                                         Ending{"segv", 0, SIGSEGV}, Ending{"abort", 0, SIGABRT}),
                         [](const auto& test) {
                           const std::string way = test.param.way;
                           return way[0] == '_' ? "underscore" + way : way;
                         });

TEST(EndingsTest, StdoutIsTheGamesAlone) {
  const RunResult plain = run_target({.command = {"ending", "exit"}, .launch = Launch::kPlain});
  const RunResult bare = run_target({.command = {"ending", "exit"}, .launch = Launch::kBare});
  const RunResult run = run_target({.command = {"ending", "exit"}});
  EXPECT_EQ(bare.out, plain.out);
  EXPECT_EQ(run.out, plain.out);
  EXPECT_EQ(bare.err, "");
}

TEST(EndingsTest, SignalsSentToRunReachTheGame) {
  const RunResult run = run_target({.command = {"pairs", "1000", "20000"},
                                    .timeout = std::chrono::seconds(15),
                                    .signal_after_ms = 700,
                                    .signal = SIGTERM});
  EXPECT_FALSE(run.timed_out);
  EXPECT_TRUE(run.signal == SIGTERM || run.exit_status == 128 + SIGTERM) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace).allocs, 1000u);
  ASSERT_TRUE(trace.end);
  EXPECT_EQ(trace.end->reason, kKilled);
}

}  // namespace
}  // namespace hitch::support
