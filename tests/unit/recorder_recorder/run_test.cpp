// `hitchtrace-record run`: the whole process with a fake game.
#include <sys/mount.h>
#include <sys/resource.h>

#include "recorder_run.h"

namespace hitch::recorder {
namespace {

using format::trace::Calibration;
using format::trace::Counters;
using format::trace::End;
using format::trace::Frame;

TEST_F(RecorderRun, AGameWithFramesLeavesAWholeTrace) {
  EXPECT_EQ(run({"frames", "50", "exit", "7"}), 0);
  EXPECT_TRUE(said("exit 7"));
  EXPECT_EQ(said_times("connected"), 1u);
  ASSERT_EQ(traces().size(), 1u);
  EXPECT_TRUE(said("trace " + traces()[0]));
  const support::Parsed parsed = this->trace();
  EXPECT_TRUE(parsed.trailer);
  EXPECT_EQ(allocs(parsed), 500u);
  const auto frames = support::records<Frame>(parsed);
  EXPECT_EQ(std::count_if(frames.begin(), frames.end(), [](const Frame& f) { return f.kind == 0; }),
            49);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].id, i);
    if (i > 0) {
      EXPECT_EQ(frames[i].begin, frames[i - 1].end);
    }
  }
  EXPECT_EQ(frames.back().kind, 2u);
  EXPECT_EQ(frames.back().live_blocks, 50u);
  EXPECT_EQ(end(parsed).reason, 1u);
  EXPECT_EQ(end(parsed).status, 7u);
  EXPECT_GT(end(parsed).recorder_cpu_ns, 0u);
  EXPECT_GT(end(parsed).pool_chunks, 0u);
  EXPECT_GE(support::records<Calibration>(parsed).size(), 2u);
  ASSERT_EQ(support::records<Counters>(parsed).size(), 1u);
  EXPECT_EQ(support::records<Counters>(parsed)[0].dropped, 0u);
  EXPECT_EQ(fact(parsed, "game.exe"), HITCH_FAKE_GAME);
  EXPECT_NE(fact(parsed, "game.args").find("frames 50 exit 7"), std::string::npos);
  EXPECT_EQ(fact(parsed, "option.buffer_mib"), "8");
  EXPECT_EQ(fact(parsed, "option.level"), "trace");
  for (const char* key : {"machine.cpu", "machine.kernel", "machine.thp", "machine.cores",
                          "machine.governor", "clock.hz", "clock.kind", "clock.price_ticks",
                          "clock.pair_floor_ticks", "fault.price_ns", "tool.version"}) {
    EXPECT_FALSE(fact(parsed, key).empty()) << key;
  }
  EXPECT_NE(content(traces()[0] + ".log").find("pid"), std::string::npos);
  EXPECT_EQ(content(root_ + "/stderr"), "");
}

TEST_F(RecorderRun, AShortGameWithoutFramesLeavesATraceToo) {
  run({"allocs", "123"});
  EXPECT_TRUE(said("exit 0"));
  ASSERT_EQ(traces().size(), 1u);
  EXPECT_EQ(allocs(trace()), 123u);
}

TEST_F(RecorderRun, EveryEndTakesTheSamePath) {
  struct Way {
    std::vector<std::string> words;
    std::string said;
    std::uint64_t reason;
    std::uint64_t status;
  };
  const Way ways[] = {
      {{"frames", "5", "kill", "9"}, "signal 9", 2, 9},
      {{"frames", "5", "kill", "11"}, "signal 11", 2, 11},
      {{"frames", "5", "quick-exit", "3"}, "exit 3", 1, 3},
  };
  for (const Way& way : ways) {
    status_.clear();
    for (const std::string& old : traces()) std::filesystem::remove(old);
    run(way.words);
    EXPECT_TRUE(said(way.said)) << way.said;
    const support::Parsed parsed = trace();
    EXPECT_TRUE(parsed.trailer);
    EXPECT_EQ(allocs(parsed), 50u);
    EXPECT_EQ(end(parsed).reason, way.reason);
    EXPECT_EQ(end(parsed).status, way.status);
  }
}

TEST_F(RecorderRun, AnExecClosesTheTraceAndOpensTheNext) {
  run({"frames", "5", "exec", HITCH_FAKE_GAME, "-", "frames", "7"});
  ASSERT_EQ(traces().size(), 2u);
  const support::Parsed first = trace(0);
  const support::Parsed second = trace(1);
  // Names sort by time only to the second: tell them apart by what they hold.
  EXPECT_EQ(allocs(first) + allocs(second), 120u);
  const support::Parsed& before = allocs(first) == 50 ? first : second;
  const support::Parsed& after = allocs(first) == 50 ? second : first;
  EXPECT_EQ(end(before).reason, 3u);
  EXPECT_EQ(end(after).reason, 1u);
  EXPECT_EQ(said_times("connected"), 2u);
}

TEST_F(RecorderRun, AShortLivedHelperIsDropped) {
  run({"frames", "5", "fork", "10"});
  EXPECT_EQ(said_times("connected"), 2u);
  EXPECT_EQ(traces().size(), 1u);
}

TEST_F(RecorderRun, AProcessThatLivesTwoSecondsGetsAFileOfItsOwn) {
  run({"frames", "5", "fork", "2300"});
  EXPECT_EQ(traces().size(), 2u);
  EXPECT_EQ(said_times("trace"), 2u);
}

TEST_F(RecorderRun, ADaemonIsWaitedFor) {
  run({"frames", "2", "daemon", "2500", "exit", "4"});
  EXPECT_TRUE(said("exit 4"));
  EXPECT_EQ(traces().size(), 2u);
  for (std::size_t i = 0; i < traces().size(); ++i) EXPECT_EQ(end(trace(i)).reason, 1u);
}

TEST_F(RecorderRun, OnlyTheTargetIsRecorded) {
  environment_["HITCH_TARGET"] = "other*";
  run({"frames", "5"});
  EXPECT_EQ(said_times("ignored"), 1u);
  EXPECT_EQ(traces().size(), 0u);
  status_.clear();
  environment_["HITCH_TARGET"] = "recorder_fake*";
  run({"allocs", "5"});
  EXPECT_EQ(said_times("connected"), 1u);
  EXPECT_EQ(traces().size(), 1u);
}

TEST_F(RecorderRun, OutputNamesTheFirstFileAndNumbersTheRest) {
  environment_["HITCH_OUTPUT"] = root_ + "/mine.hitch";
  run({"frames", "2", "fork", "2200"});
  EXPECT_TRUE(std::filesystem::exists(root_ + "/mine.hitch"));
  EXPECT_TRUE(std::filesystem::exists(root_ + "/mine-2.hitch"));
}

TEST_F(RecorderRun, AMissingProgramIsSaid) {
  wait_for(start({"run", "--status-fd", "3", "--", "/nonexistent/game"}));
  EXPECT_TRUE(said("exec-failed 2"));
  EXPECT_EQ(traces().size(), 0u);
}

TEST_F(RecorderRun, TheGameInheritsTheSignalsTheRecorderWasGiven) {
  run({"report-signals"});
  EXPECT_EQ(content(root_ + "/stdout"), "");
}

TEST_F(RecorderRun, TerminateIsPassedOn) {
  const pid_t recorder = start(
      {"run", "--status-fd", "3", "--", HITCH_FAKE_GAME, "-", "frames", "5", "sleep", "60000"});
  // Connected: the game runs.
  char first = 0;
  ASSERT_EQ(read(status_pipe_, &first, 1), 1);
  usleep(200'000);
  kill(recorder, SIGTERM);
  EXPECT_EQ(wait_for(recorder), 0);
  EXPECT_TRUE(said("signal 15"));
  EXPECT_EQ(end(trace()).reason, 2u);
}

TEST_F(RecorderRun, AKeyboardInterruptReachesTheGameThroughItsGroup) {
  const pid_t recorder = start(
      {"run", "--status-fd", "3", "--", HITCH_FAKE_GAME, "-", "frames", "5", "sleep", "60000"});
  char first = 0;
  ASSERT_EQ(read(status_pipe_, &first, 1), 1);
  usleep(200'000);
  kill(-recorder, SIGINT);
  EXPECT_EQ(wait_for(recorder), 0);
  EXPECT_TRUE(said("signal 2"));
  EXPECT_TRUE(trace().trailer);
}

TEST_F(RecorderRun, AFileSizeLimitEndsTheTraceNotTheGame) {
  const pid_t recorder =
      start({"run", "--status-fd", "3", "--", HITCH_FAKE_GAME, "-", "frames", "600", "exit", "5"});
  char first = 0;
  ASSERT_EQ(read(status_pipe_, &first, 1), 1);  // connected: the memory is there
  const rlimit limit{4096, 4096};
  ASSERT_EQ(prlimit(recorder, RLIMIT_FSIZE, &limit, nullptr), 0);
  EXPECT_EQ(wait_for(recorder), 0);
  EXPECT_TRUE(said("exit 5"));
  EXPECT_EQ(said_times("note"), 1u);
  const support::Parsed parsed = trace();  // whole chunks only
  EXPECT_LE(std::filesystem::file_size(traces()[0]), 4096u);
  EXPECT_GT(parsed.chunks.size(), 0u);
  for (const auto& last : support::records<End>(parsed)) EXPECT_EQ(last.reason, 6u);
}

TEST_F(RecorderRun, AFullDiskEndsTheTraceNotTheGame) {
  if (mount("none", root_.c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "needs the right to mount a small disk";
  }
  run({"frames", "1500", "exit", "5"});
  EXPECT_TRUE(said("exit 5"));
  EXPECT_GE(said_times("note"), 1u);
  const support::Parsed parsed = trace();
  EXPECT_GT(parsed.chunks.size(), 0u);
  for (const auto& last : support::records<End>(parsed)) EXPECT_EQ(last.reason, 6u);
  umount2(root_.c_str(), MNT_DETACH);
}

TEST_F(RecorderRun, LevelCountKnowsNoSitesButEveryCall) {
  environment_["HITCH_LEVEL"] = "count";
  run({"frames", "3"});
  const support::Parsed parsed = trace();
  EXPECT_EQ(fact(parsed, "option.level"), "count");
  EXPECT_EQ(end(parsed).reason, 1u);
}

}  // namespace
}  // namespace hitch::recorder
