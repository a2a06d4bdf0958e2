// A library that allocates in its constructor, in its destructor and when it is called.
#include "say.h"

__attribute__((visibility("default"))) int plugin_run(int pairs);

static void* kept;
__attribute__((constructor)) static void loaded(void) { kept = malloc(123); }
__attribute__((destructor)) static void unloaded(void) { free(kept); }

int plugin_run(int pairs) {
  allocate_pairs(pairs);
  return pairs;
}
