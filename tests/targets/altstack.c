// A signal handler on an alternate stack allocates; the interrupted code is outside the allocator.
#include <signal.h>

#include "say.h"

enum { kSignals = 500, kPairs = 20 };
static char alternate[64 * 1024];

static void handle(int signal_number) {
  (void)signal_number;
  allocate_pairs(kPairs);
}

int main(void) {
  const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  REQUIRE(sigaltstack(&stack, NULL) == 0);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  for (int i = 0; i < kSignals; ++i) {
    allocate_pairs(kPairs);
    raise(SIGUSR1);
  }
  const int pairs = 2 * kSignals * kPairs;
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", pairs, pairs);
  return 0;
}
