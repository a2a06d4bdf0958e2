// Allocates while threads end: in destructors of thread_local objects and of pthread keys, in every
// round of them.
#include <limits.h>
#include <pthread.h>

#include "say.h"

namespace {
constexpr int kThreads = 200;
constexpr int kPairs = 10;
pthread_key_t key;
char rounds_left[PTHREAD_DESTRUCTOR_ITERATIONS + 1];  // a key's value points to what is left

struct Tls {
  void* block = malloc(77);
  ~Tls() {
    allocate_pairs(kPairs);
    free(block);
  }
};
thread_local Tls tls;

// Sets itself again until the C library gives up.
void on_exit_of_thread(void* left_before) {
  allocate_pairs(kPairs);
  char* left = static_cast<char*>(left_before) - 1;
  if (left > rounds_left) pthread_setspecific(key, left);
}

void* work(void*) {
  keep(tls.block);
  pthread_setspecific(key, rounds_left + PTHREAD_DESTRUCTOR_ITERATIONS);
  allocate_pairs(kPairs);
  return nullptr;
}
}  // namespace

int main() {
  REQUIRE(pthread_key_create(&key, on_exit_of_thread) == 0);
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, nullptr, work, nullptr) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
  }
  say("{\"ok\": true, \"threads\": %d}\n", kThreads);
  return 0;
}
