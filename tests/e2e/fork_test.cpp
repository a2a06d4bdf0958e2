// Children never touch the parent's trace; programs that replace each other get a trace each.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

constexpr std::uint64_t kExec = 3;

class ForkWays : public testing::TestWithParam<const char*> {};

TEST_P(ForkWays, TheParentsTraceHoldsTheParentsCalls) {
  for (const Launch launch : {Launch::kRun, Launch::kBare}) {
    const RunResult run = run_target({.command = {"fork_child", GetParam()}, .launch = launch});
    ASSERT_EQ(run.exit_status, 0) << run.describe();
    if (run.said("skipped")) GTEST_SKIP() << "this C library has no " << GetParam();
    EXPECT_EQ(run.said("ok"), 1) << run.describe();
    ASSERT_EQ(run.traces.size(), 1u) << run.describe();
    const model::Trace trace = read_trace(run.traces[0]);
    EXPECT_EQ(counter_totals(trace).allocs, 2000u);
    EXPECT_EQ(counter_totals(trace).frees, 2000u);
    EXPECT_EQ(frame_totals(trace).allocs, 2000u);
    EXPECT_EQ(trace.repair.malformed, 0u);
    EXPECT_EQ(dropped(trace), 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(Ways, ForkWays, testing::Values("fork", "_Fork", "clone"),
                         [](const auto& test) {
                           const std::string way = test.param;
                           return way[0] == '_' ? "underscore" + way : way;
                         });

TEST(ForkTest, ChildrenAreRecordedOnRequest) {
  const RunResult run =
      run_target({.command = {"fork_child", "fork"}, .environment = {{"HITCH_CHILDREN", "1"}}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 2u) << run.describe();
  const std::uint64_t first = counter_totals(read_trace(run.traces[0])).allocs;
  const std::uint64_t second = counter_totals(read_trace(run.traces[1])).allocs;
  EXPECT_EQ(std::min(first, second), 2000u);
  EXPECT_EQ(std::max(first, second), 5000u);
}

class ExecWays : public testing::TestWithParam<const char*> {};

TEST_P(ExecWays, AProgramStartedByAChildGetsItsOwnTrace) {
  const RunResult run = run_target({.command = {"fork_child", GetParam()}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 2u) << run.describe();
  const model::Trace parent = read_trace(run.traces[0]);
  const model::Trace child = read_trace(run.traces[1]);
  EXPECT_EQ(counter_totals(parent).allocs, 2000u);
  EXPECT_EQ(counter_totals(child).allocs, 5000u);
}
INSTANTIATE_TEST_SUITE_P(Ways, ExecWays, testing::Values("vfork", "exec"),
                         [](const auto& test) { return test.param; });

TEST(ForkTest, ExecOfItselfClosesOneTraceAndOpensTheNext) {
  for (const Launch launch : {Launch::kRun, Launch::kBare}) {
    const RunResult run = run_target({.command = {"exec_self"}, .launch = launch});
    ASSERT_EQ(run.exit_status, 0) << run.describe();
    EXPECT_EQ(run.said("generation"), 3) << run.describe();
    ASSERT_EQ(run.traces.size(), 3u) << run.describe();
    for (std::size_t i = 0; i < 3; ++i) {
      const model::Trace trace = read_trace(run.traces[i]);
      EXPECT_EQ(counter_totals(trace).allocs, 1000u * (i + 1)) << run.traces[i];
      EXPECT_EQ(frame_totals(trace).allocs, 1000u * (i + 1)) << run.traces[i];
      ASSERT_TRUE(trace.end);
      const std::uint64_t last = launch == Launch::kRun ? 1 : trace.end->reason;
      EXPECT_EQ(trace.end->reason, i < 2 ? kExec : last);
    }
  }
}

TEST(ForkTest, RunWaitsForAGameThatDaemonises) {
  const RunResult run = run_target({.command = {"daemonise", "done"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(access((run.folder + "/done").c_str(), F_OK), 0) << run.describe();
  ASSERT_GE(run.traces.size(), 1u) << run.describe();
  EXPECT_EQ(counter_totals(read_trace(run.traces[0])).allocs, 1000u);
}

}  // namespace
}  // namespace hitch::support
