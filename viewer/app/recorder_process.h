// Runs the recorder, which runs the game, and waits for both.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "viewer/app/recorder_status.h"

namespace hitch::app {

struct RecorderRun {
  RecorderStatus status;
  // The recorder was killed or failed before it saw the game end.
  bool recorder_died = false;
  int recorder_wait_status = 0;
  // Exit status of the game as this process learnt it after the recorder had died; -1: never.
  int adopted_wait_status = -1;
  // Why nothing was started at all; empty: it was.
  std::string start_error;
};

struct RecorderCommand {
  std::string recorder;
  std::vector<std::string> game;         // with its arguments
  std::vector<std::string> environment;  // of the recorder and the game
  // Called once when the recorder has died while processes of the game live on.
  std::function<void()> on_recorder_death;
};

// Blocks until recorder and game have ended. Ctrl-C and Ctrl-\ reach the game by themselves and are
// ignored here; SIGTERM and SIGHUP that were sent to this process alone go on to the recorder,
// SIGINT and SIGQUIT to the game. When the recorder dies, its orphans become children of this
// process and are waited for.
RecorderRun run_recorder(const RecorderCommand& command);

// Exit status of a shell for a status of waitpid.
int shell_status(int wait_status);

}  // namespace hitch::app
