// A program that ages: ageing SECONDS. Frames of about 4 ms, with
//   slowing_site   the same calls all the time, on a heap that gets more holes half way. glibc
//   looks
//                  for a large block among the holes of its bin in order of size, one by one: with
//                  twice the holes that are too small it takes twice as long
//   leaking_cycle  pairs of shared_ptr that hold each other: never released
//   steady_site    the same all the time
// Prints the mean price of a call of slowing_site in the first and the last quarter, by its own
// clock.
#include <hitchtrace/hitchtrace.h>
#include <time.h>
#include <x86intrin.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "say.h"

namespace {

constexpr std::size_t kHoles = 800;
constexpr std::size_t kSmallestHole = 65'536 + 512;  // all in one bin, as is kLarge
constexpr std::size_t kHoleStep = 32;
constexpr std::size_t kLarge = 98'000;
constexpr std::size_t kSteady = 2'000;  // beyond what a thread's cache keeps

struct Node {
  std::shared_ptr<Node> other;
  char load[200];
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A block that will become a hole: the next one keeps it from growing together with a neighbour.
void* fenced(std::size_t bytes) {
  void* block = keep(std::malloc(bytes));
  REQUIRE(block != nullptr && keep(std::malloc(40)) != nullptr);
  return block;
}

}  // namespace

[[gnu::noinline]] void* slowing_site() { return keep(std::malloc(kLarge)); }
[[gnu::noinline]] void* steady_site() { return keep(std::malloc(kSteady)); }

[[gnu::noinline]] void leaking_cycle() {
  auto a = std::make_shared<Node>();
  auto b = std::make_shared<Node>();
  a->other = b;
  b->other = a;
}

int main(int count, char** words) {
  REQUIRE(count >= 2);
  const double seconds = std::atof(words[1]);
  std::vector<void*> holes;
  for (std::size_t i = 0; i < kHoles; ++i) holes.push_back(fenced(kSmallestHole + i * kHoleStep));
  void* large = fenced(kLarge);
  void* steady = fenced(kSteady);
  std::free(large);
  std::free(steady);
  for (std::size_t i = 0; i < kHoles; i += 2) std::free(holes[i]);

  bool aged = false;
  double ticks[2] = {0, 0};
  double calls[2] = {0, 0};
  const double begin = now();
  hitch_frame_mark();
  for (double at = 0; at < seconds; at = now() - begin) {
    if (!aged && at >= seconds / 2) {
      aged = true;
      for (std::size_t i = 1; i < kHoles; i += 2) std::free(holes[i]);
    }
    const int quarter = at < seconds / 4 ? 0 : at >= seconds * 3 / 4 ? 1 : -1;
    for (int i = 0; i < 20; ++i) {
      const unsigned long long before = __rdtsc();
      void* block = slowing_site();
      const unsigned long long after = __rdtsc();
      if (quarter >= 0) {
        ticks[quarter] += static_cast<double>(after - before);
        calls[quarter] += 1;
      }
      std::free(block);
      std::free(steady_site());
    }
    leaking_cycle();
    const timespec pause = {0, 3'000'000};
    nanosleep(&pause, nullptr);
    hitch_frame_mark();
  }
  say("{\"ok\": true, \"first\": %d, \"last\": %d}\n", static_cast<int>(ticks[0] / calls[0]),
      static_cast<int>(ticks[1] / calls[1]));
  return 0;
}
