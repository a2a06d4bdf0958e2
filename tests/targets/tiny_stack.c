// Allocates on stacks of PTHREAD_STACK_MIN, where a shim has no room to be generous.
#include <limits.h>
#include <pthread.h>

#include "say.h"

enum { kThreads = 32 };

static void* work(void* unused) {
  (void)unused;
  allocate_pairs(1000);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0);
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, work, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
  }
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", 1000 * kThreads, 1000 * kThreads);
  return 0;
}
