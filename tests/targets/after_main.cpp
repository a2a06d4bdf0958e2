// Allocates after main: in atexit handlers, in destructors of statics and of the executable.
#include "say.h"

namespace {
constexpr int kPairs = 300;

struct Late {
  ~Late() { allocate_pairs(kPairs); }
};
Late late;

__attribute__((destructor(101))) void last() {
  allocate_pairs(kPairs);
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", 4 * kPairs, 4 * kPairs);
}
}  // namespace

int main() {
  atexit([] { allocate_pairs(kPairs); });
  allocate_pairs(kPairs);
  return 0;
}
