// May write no file longer than a page, and would be killed by SIGXFSZ: allocates in eight threads.
#include <pthread.h>
#include <sys/resource.h>

#include "say.h"

enum { kThreads = 8, kPairs = 20000 };

static void* work(void* unused) {
  (void)unused;
  allocate_pairs(kPairs);
  return NULL;
}

int main(int argc, char** argv) {
  const struct rlimit limit = {4096, 4096};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  if (argc < 2) {  // again with the limit in force from the first instruction on
    execl("/proc/self/exe", argv[0], "limited", (char*)NULL);
    return 93;
  }
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < kThreads; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", kThreads * kPairs, kThreads * kPairs);
  return 0;
}
