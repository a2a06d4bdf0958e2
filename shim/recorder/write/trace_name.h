// Names of trace files. No recording ever overwrites another file.
#pragma once
#include <ctime>
#include <string>

namespace hitch::write {

struct NameRequest {
  std::string output;     // option output: this file, then -2, -3, ... before its extension
  std::string directory;  // option dir
  std::string exe;        // of the game
  std::string fallback;   // used when there is no directory option and the current one is closed
};

struct OpenedTrace {
  int descriptor = -1;
  std::string path;
  std::string note;   // what the user should know: another name than asked for
  std::string error;  // when descriptor is -1
};

// Creates a new file: <exe>-YYYYmmdd-HHMMSS[-n].hitch, or the name asked for.
OpenedTrace create_trace(const NameRequest& request, std::time_t now);

// $XDG_STATE_HOME/hitchtrace or ~/.local/state/hitchtrace; empty when neither variable is set.
std::string state_directory();

}  // namespace hitch::write
