// Programs nobody wrote for us, in an X server without a screen.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "format/buffer_records.h"
#include "support/trace_facts.h"

namespace hitch::support {
namespace {

// Starts Xvfb on a free display; name() is empty when there is none.
class XServer {
 public:
  XServer() {
    int ends[2];
    if (pipe(ends) != 0) return;
    server_ = fork();
    if (server_ == 0) {
      dup2(ends[1], 9);
      for (const int standard : {1, 2}) close(standard);
      execlp("Xvfb", "Xvfb", "-displayfd", "9", "-screen", "0", "800x600x24", "-nolisten", "tcp",
             static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    char number[16] = {};
    pollfd ready = {ends[0], POLLIN, 0};
    if (poll(&ready, 1, 10'000) > 0 && read(ends[0], number, sizeof number - 1) > 0)
      name_ = ":" + std::to_string(std::atoi(number));
    close(ends[0]);
  }
  ~XServer() {
    if (server_ <= 0) return;
    kill(server_, SIGTERM);
    waitpid(server_, nullptr, 0);
  }
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;
  const std::string& name() const { return name_; }

 private:
  pid_t server_ = -1;
  std::string name_;
};

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/games/", "/usr/local/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return "";
}

class GamesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<XServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_->name().empty()) GTEST_SKIP() << "Xvfb is missing or did not start";
  }

  // Plays `seconds` under `run`, then asks the game to end.
  static RunResult play(std::vector<std::string> command, int seconds) {
    return run_target({.command = std::move(command),
                       .environment = {{"DISPLAY", server_->name()},
                                       {"LIBGL_ALWAYS_SOFTWARE", "1"},
                                       {"SDL_AUDIODRIVER", "dummy"},
                                       {"SDL_VIDEODRIVER", "x11"},
                                       {"ALSOFT_DRIVERS", "null"},
                                       {"HOME", home()}},
                       .target = false,
                       .timeout = std::chrono::seconds(60),
                       .signal_after_ms = seconds * 1000,
                       .signal = SIGTERM});
  }

  // Where the games may leave their settings.
  static std::string home() {
    const std::string folder = testing::TempDir() + "hitch-e2e-home";
    std::filesystem::create_directories(folder);
    return folder;
  }

  // `least`: a software renderer on a busy machine draws a handful in that time.
  static void expect_frames(const RunResult& run, format::Api api, std::size_t least = 3) {
    EXPECT_FALSE(run.timed_out) << run.describe();
    ASSERT_EQ(run.traces.size(), 1u) << run.describe();
    const model::Trace trace = read_trace(run.traces[0]);
    EXPECT_GT(frames_of_kind(trace, model::FrameKind::kPresent), least) << run.describe();
    EXPECT_EQ(dropped(trace), 0u);
    std::size_t of_api = 0;
    for (const model::Frame& frame : trace.frames)
      of_api += frame.api == static_cast<std::uint8_t>(api) ? 1 : 0;
    EXPECT_GT(of_api, least);
    EXPECT_GT(counter_totals(trace).allocs, 1000u);
  }

  static std::unique_ptr<XServer> server_;
};
std::unique_ptr<XServer> GamesTest::server_;

TEST_F(GamesTest, Glxgears) {
  const std::string program = find_program("glxgears");
  if (program.empty()) GTEST_SKIP() << "glxgears is not installed";
  expect_frames(play({program}, 3), format::Api::kGlx);
}

TEST_F(GamesTest, Es2gears) {
  const std::string program = find_program("es2gears_x11");
  if (program.empty()) GTEST_SKIP() << "es2gears_x11 is not installed";
  expect_frames(play({program}, 3), format::Api::kEgl);
}

TEST_F(GamesTest, CombatInAWindow) {
  const std::string program = HITCH_EXAMPLES_DIR "/combat/combat";
  if (access(program.c_str(), X_OK) != 0) GTEST_SKIP() << "built without SDL2";
  const RunResult run = play({program, "--frames", "100"}, 30);
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  expect_frames(run, format::Api::kSdl);
}

TEST_F(GamesTest, SuperTux2WithItsSdlRenderer) {
  const std::string program = find_program("supertux2");
  if (program.empty()) GTEST_SKIP() << "supertux2 is not installed";
  expect_frames(play({program, "--renderer", "sdl", "--window"}, 8), format::Api::kSdl);
}

TEST_F(GamesTest, SuperTux2WithOpenGl) {
  const std::string program = find_program("supertux2");
  if (program.empty()) GTEST_SKIP() << "supertux2 is not installed";
  expect_frames(play({program, "--renderer", "opengl", "--window"}, 10), format::Api::kSdl, 0);
}

// A game that nobody can rerun identically: counted in the run itself, beneath the shim.
TEST_F(GamesTest, SuperTuxKartsTotalsAreExact) {
  const std::string program = find_program("supertuxkart");
  if (program.empty()) GTEST_SKIP() << "supertuxkart is not installed";
  const RunResult run = run_target(
      {.command = {program, "--no-graphics", "--profile-time=20", "--track=lighthouse",
                   "--numkarts=4"},
       .environment = {{"HOME", home()}, {"SDL_AUDIODRIVER", "dummy"}, {"ALSOFT_DRIVERS", "null"}},
       .count = Watch::kBeneath,
       .timeout = std::chrono::seconds(120)});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals totals = counter_totals(trace);
  EXPECT_GT(totals.allocs, 100'000u);
  EXPECT_EQ(totals.allocs + trace.own_calls.allocs, run.counted->allocs);
  EXPECT_EQ(totals.frees + trace.own_calls.frees, run.counted->frees);
  EXPECT_EQ(totals.reallocs + trace.own_calls.reallocs, run.counted->reallocs);
  EXPECT_EQ(totals.null_frees, run.counted->null_frees);
}

}  // namespace
}  // namespace hitch::support
