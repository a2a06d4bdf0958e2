// 1,000 pairs; more, or slower, on request: pairs [COUNT [MILLISECONDS]]
#include "say.h"

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  allocate_pairs(count);
  if (argc > 2) usleep((useconds_t)atoi(argv[2]) * 1000);
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", count, count);
  return 0;
}
