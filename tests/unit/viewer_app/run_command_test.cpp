// `hitchtrace run` with a recorder that records nothing (fake_recorder.sh).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_bytes.h"
#include "spawn.h"
#include "support/sample_traces.h"
#include "temp_folder.h"

namespace hitch::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RunCommandTest : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;
  using Variables = std::map<std::string, std::string>;

  static Words command(const Words& game, const Words& flags = {}) {
    Words words = {HITCH_COMMAND_PATH, "run"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.emplace_back("--");
    words.insert(words.end(), game.begin(), game.end());
    return words;
  }
  static Variables variables(Variables more = {}) {
    more.try_emplace("HITCH_RECORDER", FAKE_RECORDER);
    more.try_emplace("HITCH_LIBRARY", FAKE_LIBRARY);
    return more;
  }
  static Said run(const Words& game, const Variables& more = {}, const Words& flags = {}) {
    return Spawned(command(game, flags), variables(more)).finish();
  }
  static Said run_shell(const std::string& text, const Variables& more = {}) {
    return run({"/bin/sh", "-c", text}, more);
  }
  TempFolder folder_;
};

TEST_F(RunCommandTest, PassesTheExitStatusThrough) {
  EXPECT_EQ(run_shell("exit 0").status, 0);
  EXPECT_EQ(run_shell("exit 7").status, 7);
  EXPECT_EQ(run_shell("exit 126").status, 126);
}

TEST_F(RunCommandTest, EndsWithTheSignalsNumberAdded) {
  EXPECT_EQ(run_shell("kill -SEGV $$").status, 128 + SIGSEGV);
}

TEST_F(RunCommandTest, LeavesTheGamesOutputAlone) {
  const Said said = run_shell("echo hello; echo trouble >&2");
  EXPECT_EQ(said.out, "hello\n");
  EXPECT_THAT(said.errors, StartsWith("trouble\n"));
}

TEST_F(RunCommandTest, GivesTheGameItsInput) {
  Words words = {"/bin/sh", "-c", "echo typed | \"$@\"", "sh"};
  const Words inner = command({"/bin/cat"});
  words.insert(words.end(), inner.begin(), inner.end());
  // The shell of the fake starts its game in the background, which has no input: silent does not.
  EXPECT_EQ(Spawned(words, variables({{"FAKE_MODE", "silent"}})).finish().out, "typed\n");
}

TEST_F(RunCommandTest, SetsTheEnvironment) {
  const Said said = run({"/bin/true", "--level", "x"},
                        {{"FAKE_MODE", "environment"}, {"LD_PRELOAD", ""}, {"HITCH_LEVEL", "time"}},
                        {"--level", "count", "--no-hook-sleep", "-o", "a.hitch"});
  EXPECT_THAT(said.errors, HasSubstr("HITCH_LEVEL=count\n"));
  EXPECT_THAT(said.errors, HasSubstr("HITCH_OUTPUT=a.hitch\n"));
  EXPECT_THAT(said.errors, HasSubstr("HITCH_HOOK_SLEEP=0\n"));
  EXPECT_THAT(said.errors, HasSubstr("LD_PRELOAD=" FAKE_LIBRARY "\n"));
  EXPECT_THAT(said.errors, HasSubstr("/bin/true --level x\n"));
}

TEST_F(RunCommandTest, ShowsOneScreenAndWhereTheTraceIs) {
  const std::string trace = folder_.write("my game.hitch", support::sample_mixed().bytes(), false);
  const Said said = run_shell("exit 4", {{"FAKE_TRACE", trace}});
  EXPECT_EQ(said.status, 4);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.errors, HasSubstr("trace: " + trace + "\n"));
  EXPECT_THAT(said.errors, HasSubstr("next:  hitchtrace report '" + trace + "'\n"));
  const auto lines = std::count(said.errors.begin(), said.errors.end(), '\n');
  EXPECT_GT(lines, 5);
  EXPECT_LE(lines, 28);
}

TEST_F(RunCommandTest, RepairsTheTraceAndWaitsForTheGameWhenTheRecorderIsKilled) {
  const std::string trace = folder_.write("cut.hitch", support::sample_mixed().bytes(false), false);
  const std::string done = folder_ / "done";
  const Said said = run_shell("sleep 0.2; echo yes > " + done + "; exit 9",
                              {{"FAKE_MODE", "die"}, {"FAKE_TRACE", trace}});
  EXPECT_EQ(said.status, 9);
  EXPECT_TRUE(std::filesystem::exists(done));
  EXPECT_THAT(said.errors, HasSubstr("the recorder has died"));
  EXPECT_THAT(said.errors, HasSubstr("index rewritten"));
  EXPECT_THAT(said.errors, Not(HasSubstr("never allocated")));
  EXPECT_THAT(said.errors, HasSubstr("next:  hitchtrace report"));
}

TEST_F(RunCommandTest, NamesTheAllocatorWhenNothingWasAllocatedThroughTheLibrary) {
  const std::string trace = folder_.write("none.hitch", support::sample_empty().bytes(), false);
  EXPECT_THAT(run_shell("", {{"FAKE_TRACE", trace}}).errors,
              HasSubstr("never allocated through the library"));
}

TEST_F(RunCommandTest, PassesASignalOfTheGameThroughAfterTheRecorderWasKilled) {
  const Said said = run_shell("sleep 0.1; kill -ABRT $$", {{"FAKE_MODE", "die"}});
  EXPECT_EQ(said.status, 128 + SIGABRT);
  EXPECT_THAT(said.errors, HasSubstr("the recorder died before it had begun a trace"));
}

TEST_F(RunCommandTest, ForwardsSignalsSentToItAlone) {
  for (const int number : {SIGTERM, SIGHUP}) {
    const std::string name = number == SIGTERM ? "TERM" : "HUP";
    Spawned spawned(command({"/bin/sh", "-c",
                             "trap 'echo got " + name + "; exit 5' " + name +
                                 "; echo ready; while :; do sleep 0.05; done"}),
                    variables({{"FAKE_MODE", "forward"}}));
    spawned.wait_for_output("ready");
    ASSERT_EQ(kill(spawned.pid(), number), 0);
    const Said said = spawned.finish();
    EXPECT_EQ(said.status, 5);
    EXPECT_THAT(said.out, HasSubstr("got " + name));
  }
}

TEST_F(RunCommandTest, PassesAnInterruptSentToItAloneToTheGame) {
  // Not a shell: one that the fake starts in the background can never catch SIGINT.
  Spawned spawned(command({SIGNAL_PROGRAM}), variables({{"FAKE_MODE", "forward"}}));
  spawned.wait_for_output("ready");
  ASSERT_EQ(kill(spawned.pid(), SIGINT), 0);
  EXPECT_EQ(spawned.finish().status, 6);
}

TEST_F(RunCommandTest, SaysWhatKeptTheGameFromStarting) {
  const Said refused = run_shell("", {{"FAKE_MODE", "refused"}});
  EXPECT_EQ(refused.status, 126);
  EXPECT_THAT(refused.errors, HasSubstr("/bin/sh: Permission denied."));
  EXPECT_EQ(run_shell("", {{"FAKE_MODE", "vanished"}}).status, 127);
  EXPECT_EQ(run({"/nowhere/game"}).status, 127);
  EXPECT_EQ(run({folder_.write("data", "x", false)}).status, 126);
}

TEST_F(RunCommandTest, SaysWhenTheRecorderFails) {
  const Said said = run_shell("", {{"FAKE_MODE", "fail"}});
  EXPECT_EQ(said.status, 125);
  EXPECT_EQ(said.errors, "hitchtrace: the recorder failed (exit status 3).\n");
  const Said broken = run_shell("", {{"HITCH_RECORDER", folder_.write("r", "x", false)}});
  EXPECT_EQ(broken.status, 125);
  EXPECT_THAT(broken.errors, HasSubstr("cannot be started: Permission denied."));
}

TEST_F(RunCommandTest, SaysWhatIsMissingFromTheInstallation) {
  const Said library = run_shell("", {{"HITCH_LIBRARY", "/nowhere/lib.so"}});
  EXPECT_EQ(library.status, 125);
  EXPECT_THAT(library.errors,
              HasSubstr("libhitchtrace.so is not at /nowhere/lib.so (HITCH_LIBRARY)."));
  const Said recorder = run_shell("", {{"HITCH_RECORDER", "/nowhere/record"}});
  EXPECT_EQ(recorder.status, 125);
  EXPECT_THAT(recorder.errors, HasSubstr("hitchtrace-record is not at /nowhere/record"));
  const Said spaced = run_shell("", {{"HITCH_LIBRARY", folder_.write("a b/lib.so", "")}});
  EXPECT_EQ(spaced.status, 125);
  EXPECT_THAT(spaced.errors, HasSubstr("a space or a colon"));
}

TEST_F(RunCommandTest, ChecksTheFoldersOfTheTrace) {
  const Said dir = run({"/bin/true"}, {}, {"--dir", "/nowhere"});
  EXPECT_EQ(dir.status, 125);
  EXPECT_THAT(dir.errors, HasSubstr("--dir: the folder /nowhere does not exist."));
  EXPECT_EQ(run({"/bin/true"}, {}, {"-o", "/nowhere/x.hitch"}).status, 125);
}

TEST_F(RunCommandTest, ExplainsWhyNothingWasRecorded) {
  const std::string script = folder_.write("run.sh", "#!/bin/sh\nunset LD_PRELOAD\nexit 3\n");
  const Said reset = run({script}, {{"FAKE_MODE", "silent"}});
  EXPECT_EQ(reset.status, 3);
  EXPECT_THAT(reset.errors, HasSubstr("nothing was recorded: " + script + ", line 2"));
  const Said ignored = run_shell("", {{"FAKE_MODE", "ignored"}});
  EXPECT_THAT(ignored.errors, HasSubstr("(/bin/launcher)"));
  EXPECT_THAT(ignored.errors, HasSubstr("--target"));
  const Said short_life = run_shell("exit 0");
  EXPECT_THAT(short_life.errors, HasSubstr("/fake/game ended before there was anything to write"));
}

TEST_F(RunCommandTest, WarnsBeforeTheStartWhenNothingCanBeRecorded) {
  const std::string game = folder_.write("game", elf_bytes({ELFCLASS32, EM_386, ""}));
  const Said said = run({game}, {{"FAKE_MODE", "silent"}});
  EXPECT_THAT(said.errors,
              HasSubstr("warning: nothing will be recorded: " + game + " is a 32-bit"));
}

TEST_F(RunCommandTest, StartsGamesWithAnAntiCheatUnrecorded) {
  const std::string game = folder_.write("game", "#!/bin/sh\necho \"[$LD_PRELOAD]\"\n");
  folder_.write("EasyAntiCheat/x", "");
  const Said plain = run({game}, {{"LD_PRELOAD", ""}});
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.out, "[]\n");
  EXPECT_THAT(plain.errors, HasSubstr("--attach-anyway"));
  const Said attached = run({game}, {{"LD_PRELOAD", ""}}, {"--attach-anyway"});
  EXPECT_EQ(attached.out, "[" FAKE_LIBRARY "]\n");
}

TEST_F(RunCommandTest, ShowsTheRecordersNotes) {
  EXPECT_THAT(run_shell("", {{"FAKE_MODE", "note"}}).errors,
              HasSubstr("hitchtrace: the disk is full\n"));
}

TEST_F(RunCommandTest, WarnsOfVariablesThatMakeNoSense) {
  const Said said = run_shell("exit 0", {{"HITCH_LEVEL", "fast"}});
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.errors, HasSubstr("warning: HITCH_LEVEL is ignored: --level: 'fast'"));
  EXPECT_THAT(run_shell("exit 0").errors, Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace hitch::app
