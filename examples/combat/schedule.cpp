#include "schedule.h"

#include <algorithm>

#include "random.h"

namespace combat {
namespace {

constexpr const char* kNames[kPlantCount] = {"alloc", "fault", "lock", "wait", "cpu"};
constexpr int kMostOfEach = 3;

}  // namespace

const char* plant_name(Plant plant) { return kNames[static_cast<std::size_t>(plant)]; }

std::optional<Plant> plant_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kPlantCount; ++i) {
    if (name == kNames[i]) return static_cast<Plant>(i);
  }
  return std::nullopt;
}

std::vector<Appointment> make_schedule(std::uint64_t seed, int frames) {
  constexpr int kTail = 10;
  const int room = frames - kQuietFrames - kTail;
  const int of_each = std::clamp(room / kSpacing / static_cast<int>(kPlantCount), 0, kMostOfEach);

  Random random(seed ^ 0x706c616e7473);
  std::vector<Plant> order;
  for (int i = 0; i < of_each; ++i) {
    for (std::size_t plant = 0; plant < kPlantCount; ++plant)
      order.push_back(static_cast<Plant>(plant));
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

  // What the spacing leaves over is dealt out between the appointments.
  std::vector<int> extra;
  const int slack = room - static_cast<int>(order.size()) * kSpacing;
  for (std::size_t i = 0; i < order.size(); ++i)
    extra.push_back(static_cast<int>(random.below(static_cast<std::size_t>(slack) + 1)));
  std::sort(extra.begin(), extra.end());

  std::vector<Appointment> schedule;
  for (std::size_t i = 0; i < order.size(); ++i)
    schedule.push_back({kQuietFrames + static_cast<int>(i) * kSpacing + extra[i], order[i]});
  return schedule;
}

}  // namespace combat
