// The flags of `hitchtrace run` that come from the options table, as settings of the environment.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace hitch::app {

// Variable and value, in the order given; a later one wins.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct RunOptions {
  Settings settings;           // HITCH_* from flags, validated
  bool attach_anyway = false;  // load the library also where it may do harm
  std::vector<std::string> command;
};

// What is wrong with a value, as a sentence; empty: nothing.
std::string check_value(const std::string& flag, const std::string& value);

// A copy of `environment` with the settings applied and `library` first in LD_PRELOAD (what was
// there stays behind it). An empty library leaves LD_PRELOAD alone.
std::vector<std::string> game_environment(const char* const* environment, const Settings& settings,
                                          const std::string& library);

}  // namespace hitch::app
