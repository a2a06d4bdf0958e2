// hitchtrace-record: records games from outside. Started by `hitchtrace run`, or by the shim of a
// game that was preloaded bare; not meant to be typed.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "recorder/recorder/supervisor.h"
#include "recorder/write/trace_name.h"

namespace hitch::recorder {
namespace {

constexpr int kUsageError = 2;

struct CommandLine {
  bool run = false;
  int status_fd = -1;
  std::string socket;
  char** game = nullptr;
};

int usage() {
  std::fputs(
      "usage: hitchtrace-record run [--status-fd N] -- GAME ARGS...\n"
      "       hitchtrace-record bare --socket NAME\n"
      "Started by `hitchtrace run` and by the library; see hitchtrace(1).\n",
      stderr);
  return kUsageError;
}

bool parse(int count, char** words, CommandLine& line) {
  if (count < 2) return false;
  line.run = std::strcmp(words[1], "run") == 0;
  if (!line.run && std::strcmp(words[1], "bare") != 0) return false;
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--" && line.run && i + 1 < count) {
      line.game = words + i + 1;
      return true;
    }
    if (i + 1 >= count) return false;
    if (word == "--status-fd" && line.run) {
      line.status_fd = std::atoi(words[++i]);
    } else if (word == "--socket" && !line.run) {
      line.socket = words[++i];
    } else {
      return false;
    }
  }
  return !line.run && !line.socket.empty();
}

void complain(const config::OptionRow& row, const char* value, const char* why) {
  std::fprintf(stderr, "hitchtrace: %s=%s %s; using %s\n", row.env, value, why, row.fallback);
}

int record(const CommandLine& line) {
  const InheritedSignals signals;
  Surroundings surroundings{{}, {}, {}, {}, write::state_directory(), Status(line.status_fd)};
  // Under `run` the command has checked the options; bare, the shim has complained already.
  config::read_environment(surroundings.options, environ,
                           surroundings.options.verbose ? complain : nullptr);
  if (line.status_fd >= 0) fcntl(line.status_fd, F_SETFD, FD_CLOEXEC);
  Listener listener;
  std::string error;
  if (!(line.run ? listener.open_own(error) : listener.open(line.socket, error))) {
    surroundings.status.note(error);
    return 1;
  }
  surroundings.clock = Clock::measure();
  surroundings.facts = machine_facts();
  surroundings.fault_prices = faults::measure_fault_prices();
  Supervisor supervisor(surroundings, listener, signals);
  supervisor.prepare_memory();
  if (!line.run) {
    supervisor.run_bare();
    return 0;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Launched launched = launch(line.game, listener.name(), signals);
  if (launched.pid < 0) {
    surroundings.status.say("exec-failed", std::to_string(launched.error));
    return 0;
  }
  supervisor.run_game(launched.pid);
  return 0;
}

}  // namespace
}  // namespace hitch::recorder

int main(int count, char** words) {
  hitch::recorder::restore_environment(words);
  hitch::recorder::CommandLine line;
  if (!hitch::recorder::parse(count, words, line)) return hitch::recorder::usage();
  try {
    return hitch::recorder::record(line);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "hitchtrace: the recorder stopped: %s\n", problem.what());
    return 1;
  }
}
