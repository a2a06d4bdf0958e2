// Allocates before main, and before any constructor of a library has run.
#include "say.h"

enum { kPairs = 300 };
static void* kept;

static void first(int argc, char** argv, char** environment) {
  (void)argc;
  (void)argv;
  (void)environment;
  allocate_pairs(kPairs);
  kept = malloc(5000);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char**,
                                                                        char**) = first;

__attribute__((constructor(101))) static void second(void) {
  allocate_pairs(kPairs);
  kept = realloc(kept, 9000);
}

int main(void) {
  allocate_pairs(kPairs);
  REQUIRE(kept != NULL);
  free(kept);
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d, \"reallocs\": 1}\n", 3 * kPairs + 1,
      3 * kPairs + 1);
  return 0;
}
