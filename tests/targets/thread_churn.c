// 10,000 short threads, at most 4 at a time; each makes 3 pairs and a block the main thread
// releases.
#include <pthread.h>

#include "say.h"

enum { kThreads = 10000, kAtOnce = 4 };

static void* work(void* unused) {
  (void)unused;
  allocate_pairs(3);
  return malloc(100);
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  for (int done = 0; done < kThreads; done += kAtOnce) {
    pthread_t threads[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i)
      REQUIRE(pthread_create(&threads[i], &attributes, work, NULL) == 0);
    for (int i = 0; i < kAtOnce; ++i) {
      void* block = NULL;
      REQUIRE(pthread_join(threads[i], &block) == 0 && block != NULL);
      free(block);
    }
  }
  say("{\"ok\": true, \"threads\": %d, \"allocs\": %d, \"frees\": %d}\n", kThreads, 4 * kThreads,
      4 * kThreads);
  return 0;
}
