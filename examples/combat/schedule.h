// Which frame gets which hitch: a function of seed and length of the game alone, never of the
// machine.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace combat {

enum class Plant : std::uint8_t {
  kAlloc,  // a burst of small allocations and releases
  kFault,  // a fresh large buffer, touched for the first time
  kLock,   // the main thread wants a mutex that a worker holds
  kWait,   // the main thread waits for a worker that touches a fresh large buffer
  kCpu,    // computation: not memory
};
constexpr std::size_t kPlantCount = 5;

const char* plant_name(Plant plant);
std::optional<Plant> plant_from_name(std::string_view name);

struct Appointment {
  int frame;  // frame 0 ends with the first present
  Plant plant;
};

constexpr int kQuietFrames = 120;  // none in the first ones
constexpr int kSpacing = 40;       // frames between two, at least

// In order of frames; each plant equally often, as often as `frames` has room for, three times at
// most.
std::vector<Appointment> make_schedule(std::uint64_t seed, int frames);

}  // namespace combat
