// 20,000 exceptions pass through stack entries that hold blocks; one in ten comes out of operator
// new itself.
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "say.h"

namespace {
volatile std::size_t too_much = PTRDIFF_MAX / 2;

struct Guard {
  std::unique_ptr<int[]> block{new int[20]};
  int* live;
  explicit Guard(int* counter) : live(counter) { ++*live; }
  ~Guard() { --*live; }
};

void fall(int depth, int i, int* live) {
  const Guard guard(live);
  if (depth > 0) return fall(depth - 1, i, live);
  if (i % 10 == 0) {
    std::vector<char> vast;
    vast.reserve(too_much);
  }
  throw std::runtime_error("exception number " + std::to_string(i) + " with a text of its own");
}
}  // namespace

int main() {
  int live = 0;
  int caught = 0;
  int bad_allocs = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      fall(5, i, &live);
    } catch (const std::bad_alloc&) {
      ++bad_allocs;
    } catch (const std::runtime_error& error) {
      if (std::string(error.what()).find(std::to_string(i)) != std::string::npos) ++caught;
    }
    REQUIRE(live == 0);
  }
  REQUIRE(caught == 18'000 && bad_allocs == 2'000);
  say("{\"ok\": true, \"caught\": %d}\n", caught + bad_allocs);
  return 0;
}
