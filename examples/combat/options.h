// What the command line of combat says.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "schedule.h"

namespace combat {

struct Options {
  std::uint64_t seed = 1;
  int frames = 600;
  bool limit = true;  // 60 frames a second
  std::string truth;  // file for what was planted where; empty: none
  bool accelerated = false;
  std::array<bool, kPlantCount> plant_on = {true, true, true, true, true};
};

// Prints what is wrong, or the help, and returns nothing when the game should not start; `status`
// is then the exit status.
std::optional<Options> parse_options(int argc, char** argv, int& status);

}  // namespace combat
