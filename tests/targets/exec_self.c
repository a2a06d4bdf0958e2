// Three programs in one process: 1,000 pairs, exec, 2,000 pairs, exec, 3,000 pairs.
#include "say.h"

int main(int argc, char** argv) {
  const int generation = argc > 1 ? atoi(argv[1]) : 1;
  allocate_pairs(1000 * generation);
  if (generation < 3) {
    char next[16];
    snprintf(next, sizeof next, "%d", generation + 1);
    execl("/proc/self/exe", argv[0], next, (char*)NULL);
    return 93;
  }
  say("{\"ok\": true, \"generation\": %d}\n", generation);
  return 0;
}
