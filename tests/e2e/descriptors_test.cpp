// Nothing of ours is left in the game: no descriptor, no child, no thread, no file it must pay for.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

class Launches : public testing::TestWithParam<Launch> {};

TEST_P(Launches, AFileOpenedAfterClosingEverythingIsTheGames) {
  const RunResult run =
      run_target({.command = {"close_all_fds", "save.txt"}, .launch = GetParam()});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  std::ostringstream expected;
  for (int i = 0; i < 2000; ++i) {
    char line[32];
    std::snprintf(line, sizeof line, "line %04d\n", i);
    expected << line;
  }
  std::ifstream file(run.folder + "/save.txt");
  std::ostringstream saved;
  saved << file.rdbuf();
  EXPECT_EQ(saved.str(), expected.str());

  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace).allocs, 21'000u);
  EXPECT_EQ(frame_totals(trace).frees, 21'000u);
}

TEST_P(Launches, AFileSizeLimitIsNotReached) {
  const RunResult run = run_target({.command = {"ulimit_f"}, .launch = GetParam()});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  ASSERT_EQ(run.traces.size(), 2u) << run.describe();  // before and after it replaced itself
  const model::Trace trace = read_trace(run.traces[1]);
  EXPECT_GE(counter_totals(trace).allocs, 160'000u);
  EXPECT_EQ(frame_totals(trace).allocs, counter_totals(trace).allocs);
}

TEST_P(Launches, ASubreaperReapsItsOwnChildrenOnly) {
  const RunResult run = run_target({.command = {"subreaper"}, .launch = GetParam()});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("reaped"), 2) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_EQ(counter_totals(read_trace(run.traces[0])).allocs, 2000u);
}

TEST_P(Launches, ThreadsAndDescriptorsAreTheGamesOwn) {
  const RunResult plain = run_target({.command = {"no_children"}, .launch = Launch::kPlain});
  const RunResult run = run_target({.command = {"no_children"}, .launch = GetParam()});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  EXPECT_EQ(run.said("threads"), plain.said("threads"));
  EXPECT_EQ(run.said("descriptors"), plain.said("descriptors"));
}

INSTANTIATE_TEST_SUITE_P(Both, Launches, testing::Values(Launch::kRun, Launch::kBare),
                         [](const auto& test) {
                           return test.param == Launch::kRun ? "run" : "bare";
                         });

}  // namespace
}  // namespace hitch::support
