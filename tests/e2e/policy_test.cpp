// Which processes are recorded, and what is said about those that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

using testing::HasSubstr;

// A trace may appear only after the program has ended.
std::size_t traces_after_a_while(const RunResult& run) {
  usleep(300'000);
  std::size_t traces = 0;
  for (const auto& file : std::filesystem::directory_iterator(run.folder))
    traces += file.path().extension() == ".hitch" ? 1 : 0;
  return traces;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

TEST(PolicyTest, ShellsAndInterpretersAreNotTheGame) {
  const std::string game = target_path("present_linked") + " glx";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"/bin/sh", "-c", "true; " + game},
        std::vector<std::string>{"/usr/bin/env", "X=1", target_path("present_linked"), "glx"},
        std::vector<std::string>{"/usr/bin/python3", "-c",
                                 "import subprocess; subprocess.run('" + game + "'.split())"}}) {
    if (access(command[0].c_str(), X_OK) != 0) continue;
    for (const Launch launch : {Launch::kRun, Launch::kBare}) {
      const RunResult run = run_target({.command = command, .launch = launch, .target = false});
      EXPECT_EQ(run.exit_status, 0) << run.describe();
      EXPECT_EQ(run.said("presents"), 20) << run.describe();
      ASSERT_EQ(run.traces.size(), 1u) << command[0] << run.describe();
      EXPECT_THAT(file_name(run.traces[0]), HasSubstr("present_linked"));
      EXPECT_EQ(frames_of_kind(read_trace(run.traces[0]), model::FrameKind::kPresent), 19u);
    }
  }
}

// Told to bear another library before its own, as some launchers do.
TEST(PolicyTest, ASanitizedProgramRunsUnrecorded) {
  const RunResult run = run_target({.command = {"pairs_sanitized", "1000"},
                                    .launch = Launch::kBare,
                                    .environment = {{"ASAN_OPTIONS", "verify_asan_link_order=0"}},
                                    .expect_trace = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  EXPECT_EQ(traces_after_a_while(run), 0u) << run.describe();
}

TEST(PolicyTest, AShortProgramWithoutAPresentLeavesNoFile) {
  const RunResult run = run_target(
      {.command = {"pairs"}, .launch = Launch::kBare, .target = false, .expect_trace = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(traces_after_a_while(run), 0u) << run.describe();
  EXPECT_EQ(run.err, "");
}

TEST(PolicyTest, ALongProgramWithoutAPresentLeavesOne) {
  const RunResult run =
      run_target({.command = {"pairs", "1000", "2600"}, .launch = Launch::kBare, .target = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_EQ(counter_totals(read_trace(run.traces[0])).allocs, 1000u);
}

TEST(PolicyTest, TwoRecordingsNeverOverwriteEachOther) {
  const std::string game = target_path("present_linked") + " glx";
  const RunResult run =
      run_target({.command = {"/bin/sh", "-c", game + "; " + game}, .target = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.traces.size(), 2u) << run.describe();
}

TEST(PolicyTest, AStaticProgramIsNamedAsSuch) {
  const RunResult run = run_target({.command = {"pairs_static"}});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  EXPECT_TRUE(run.traces.empty());
  EXPECT_THAT(run.err, HasSubstr("static"));
}

TEST(PolicyTest, AnAllocatorInsideTheProgramIsNamed) {
  const RunResult run = run_target({.command = {"own_malloc"}});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  EXPECT_THAT(run.err, HasSubstr("malloc"));
  EXPECT_THAT(run.err, HasSubstr("own_malloc"));
}

TEST(PolicyTest, AMissingProgramFailsAsInAShell) {
  const RunResult run = run_target({.command = {"/there/is/no/such/game"}});
  EXPECT_EQ(run.exit_status, 127) << run.describe();
  EXPECT_THAT(run.err, HasSubstr("/there/is/no/such/game"));
}

TEST(PolicyTest, DisabledMeansTransparent) {
  const RunResult run = run_target({.command = {"pairs"},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_DISABLE", "1"}},
                                    .expect_trace = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.traces.empty());
}

TEST(PolicyTest, WithoutARecorderTheGameRunsAndOneLineSaysWhy) {
  const RunResult run = run_target({.command = {"pairs"},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_RECORDER", "/there/is/no/recorder"}},
                                    .expect_trace = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST(PolicyTest, AFolderThatCannotBeWrittenCostsTheGameNothing) {
  const RunResult run = run_target({.command = {"pairs", "5000"},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_DIR", "/proc/1/no-such-folder"}},
                                    .expect_trace = false});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
}

}  // namespace
}  // namespace hitch::support
