// The loop whose added cost is quoted: allocate, touch and release 16 ints, 2,000,000 times or as
// often as asked.
#include <time.h>

#include "say.h"

namespace {
double now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}
}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2'000'000;
  const double start = now_ms();
  for (int i = 0; i < count; ++i) {
    int* p = new int[16];
    keep(p);
    p[i & 15] = i;
    delete[] p;
  }
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d, \"ms\": %.3f}\n", count, count,
      now_ms() - start);
  return 0;
}
