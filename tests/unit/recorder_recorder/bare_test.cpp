// `hitchtrace-record bare`: started by a game's own shim.
#include "recorder_run.h"

namespace hitch::recorder {
namespace {

std::string socket_name(const char* test) {
  return "@hitch-test-" + std::to_string(getpid()) + "-" + test;
}

pid_t start_game(const std::string& socket, std::vector<std::string> words) {
  const pid_t game = fork();
  if (game == 0) {
    words.insert(words.begin(), {HITCH_FAKE_GAME, socket});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  return game;
}

TEST_F(RecorderRun, BareItEndsWithItsGame) {
  const std::string socket = socket_name("ends");
  const pid_t recorder = start({"bare", "--socket", socket});
  const pid_t game = start_game(socket, {"frames", "20"});
  int status = 0;
  waitpid(game, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(wait_for(recorder), 0);
  ASSERT_EQ(traces().size(), 1u);
  const support::Parsed parsed = trace();
  EXPECT_TRUE(parsed.trailer);
  EXPECT_EQ(allocs(parsed), 200u);
}

TEST_F(RecorderRun, BareAShortProgramIsDropped) {
  const std::string socket = socket_name("short");
  const pid_t recorder = start({"bare", "--socket", socket});
  const pid_t game = start_game(socket, {"allocs", "20"});
  waitpid(game, nullptr, 0);
  EXPECT_EQ(wait_for(recorder), 0);
  EXPECT_EQ(traces().size(), 0u);
}

TEST_F(RecorderRun, BareTerminateFinishesTheFile) {
  const std::string socket = socket_name("term");
  const pid_t recorder = start({"bare", "--socket", socket});
  const pid_t game = start_game(socket, {"frames", "20", "sleep", "60000"});
  for (int i = 0; i < 500 && traces().empty(); ++i) usleep(10'000);
  usleep(200'000);
  kill(recorder, SIGTERM);
  EXPECT_EQ(wait_for(recorder), 0);
  const support::Parsed parsed = trace();
  EXPECT_TRUE(parsed.trailer);
  EXPECT_EQ(end(parsed).reason, 5u);
  EXPECT_EQ(waitpid(game, nullptr, WNOHANG), 0);  // the game goes on
  kill(game, SIGKILL);
  waitpid(game, nullptr, 0);
}

TEST_F(RecorderRun, BareAKilledRecorderLeavesReadableChunks) {
  const std::string socket = socket_name("killed");
  const pid_t recorder = start({"bare", "--socket", socket});
  const pid_t game = start_game(socket, {"frames", "400", "sleep", "60000"});
  std::uint64_t written = 0;
  for (int i = 0; i < 1000 && written < 4000; ++i) {
    usleep(10'000);
    if (!traces().empty()) written = std::filesystem::file_size(traces()[0]);
  }
  kill(recorder, SIGKILL);
  wait_for(recorder);
  kill(game, SIGKILL);
  waitpid(game, nullptr, 0);
  const support::Parsed parsed = trace();
  EXPECT_FALSE(parsed.trailer);
  EXPECT_GT(allocs(parsed), 0u);
}

TEST_F(RecorderRun, WrongWordsAreAUsageError) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"bare"},
                                                {"run"},
                                                {"run", "--"},
                                                {"bare", "--socket"},
                                                {"run", "--socket", "x", "--", "true"},
                                                {"listen"}}) {
    const int status = wait_for(start(words));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 2);
  }
  EXPECT_NE(content(root_ + "/stderr").find("usage:"), std::string::npos);
}

}  // namespace
}  // namespace hitch::recorder
