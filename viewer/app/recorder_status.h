// What the recorder tells `run`, line by line, on the descriptor it was given.
//
//   trace PATH | connected PID EXE | ignored PID EXE | exec-failed ERRNO | exit CODE | signal N |
//   note TEXT
//
// Unknown words are skipped, so that a newer recorder may say more.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hitch::app {

struct GameProcess {
  pid_t pid = 0;
  std::string exe;
};

struct RecorderStatus {
  std::vector<std::string> traces;
  std::vector<GameProcess> connected;
  std::vector<GameProcess> ignored;
  std::vector<std::string> notes;
  std::optional<int> exec_error;  // errno
  std::optional<int> exit_code;   // of the game
  std::optional<int> killed_by;   // signal that ended the game

  bool game_ended() const { return exec_error || exit_code || killed_by; }
};

// Bytes as they come from the pipe -> status.
class StatusParser {
 public:
  void feed(std::string_view bytes);
  const RecorderStatus& status() const { return status_; }

 private:
  void take_line(std::string_view line);

  std::string rest_;
  RecorderStatus status_;
};

}  // namespace hitch::app
