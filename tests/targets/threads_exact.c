// 10,000,000 calls: 4 rounds of 8 threads that exit, every outcome of realloc among the calls.
#include <pthread.h>
#include <stdint.h>

#include "say.h"

enum { kRounds = 4, kThreads = 8, kCallsEach = 10000000 / (kRounds * kThreads), kCallsALoop = 15 };

static void step(void) {
  char* moved = keep(malloc(24));
  char* wall = keep(malloc(24));
  moved = keep(realloc(moved, 400));
  char* shrunk = keep(malloc(256));
  shrunk = keep(realloc(shrunk, 250));
  volatile size_t too_much = PTRDIFF_MAX;
  REQUIRE(realloc(shrunk, too_much) == NULL);
  char* fresh = keep(realloc(NULL, 40));
  char* gone = keep(calloc(1, 64));
  REQUIRE(realloc(gone, 0) == NULL);
  void* aligned = NULL;
  REQUIRE(posix_memalign(&aligned, 64, 100) == 0);
  REQUIRE(moved != NULL && wall != NULL && shrunk != NULL && fresh != NULL);
  moved[0] = wall[0] = shrunk[0] = fresh[0] = 1;
  free(aligned);
  free(fresh);
  free(shrunk);
  free(wall);
  free(moved);
}

static void* work(void* unused) {
  (void)unused;
  int calls = 0;
  for (; calls + kCallsALoop <= kCallsEach; calls += kCallsALoop) step();
  for (; calls + 2 <= kCallsEach; calls += 2) free(keep(malloc(48)));
  for (; calls < kCallsEach; ++calls) keep(malloc(8));
  return NULL;
}

int main(void) {
  for (int round = 0; round < kRounds; ++round) {
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i) REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < kThreads; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
  }
  const long threads = kRounds * kThreads, steps = kCallsEach / kCallsALoop;
  const long rest = kCallsEach % kCallsALoop;
  say("{\"ok\": true, \"calls\": %ld, \"allocs\": %ld, \"frees\": %ld, \"reallocs\": %ld}\n",
      threads * kCallsEach, threads * (steps * 6 + rest / 2 + rest % 2),
      threads * (steps * 5 + rest / 2), threads * steps * 4);
  return 0;
}
