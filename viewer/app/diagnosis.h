// Before a game starts: can it be started, and can it be recorded? After it ended: why was it not?
#pragma once
#include <string>
#include <vector>

#include "viewer/app/program_file.h"

namespace hitch::app {

// Exit statuses of `run` for its own failures, as env and timeout have them.
constexpr int kExitOwnFailure = 125;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

struct Diagnosis {
  // Not 0: the game cannot be started at all; `refusal` says why.
  int refuse_status = 0;
  std::string refusal;
  // Not empty: it can be started, but nothing of it will be recorded, and why.
  std::string cannot_record;
  // What will be missing or needs a hand. One sentence each.
  std::vector<std::string> warnings;
  // The allocator that comes before the library; empty: none was seen.
  std::string own_allocator;
  // Not empty: the library does this game harm, and why. It is not loaded unless the user insists.
  std::string keep_out;
};

// `chain` from find_program; `command` is the game with its arguments.
Diagnosis diagnose(const std::vector<ProgramFacts>& chain, const std::vector<std::string>& command);

// Why no process of the game ever loaded the library. One sentence, or two with the remedy.
std::string why_never_loaded(const Diagnosis& diagnosis, const std::vector<ProgramFacts>& chain,
                             const std::vector<std::string>& command);

// The line of a script (a file that starts with #!) that drops or replaces LD_PRELOAD.
struct PreloadReset {
  unsigned line = 0;  // 0: none found
  std::string text;
};
PreloadReset find_preload_reset(const std::string& script);

}  // namespace hitch::app
