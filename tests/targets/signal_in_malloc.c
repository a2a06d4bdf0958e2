// A timer's handler allocates while the main thread does. The handler's size is its own and its
// blocks come from the thread cache, so that the C library itself is not disturbed; only hooks are
// interrupted.
#include <signal.h>
#include <sys/time.h>

#include "say.h"

enum { kHandlerSize = 900, kSignals = 1000 };
static volatile sig_atomic_t signals;

static void handle(int signal_number) {
  (void)signal_number;
  free(keep(malloc(kHandlerSize)));
  ++signals;
}

int main(void) {
  void* prime[4];
  for (int i = 0; i < 4; ++i) prime[i] = keep(malloc(kHandlerSize));
  for (int i = 0; i < 4; ++i) free(prime[i]);

  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  REQUIRE(setitimer(ITIMER_REAL, &often, NULL) == 0);
  long pairs = 0;
  for (; signals < kSignals; pairs += 200) allocate_pairs(200);
  REQUIRE(setitimer(ITIMER_REAL, &never, NULL) == 0);
  const long all = pairs + 4 + (long)signals;
  say("{\"ok\": true, \"signals\": %d, \"allocs\": %ld, \"frees\": %ld}\n", (int)signals, all, all);
  return 0;
}
