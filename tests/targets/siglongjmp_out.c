// Leaves the allocator by siglongjmp from a signal handler, 50 times out of each of five functions,
// when jump_below.so is preloaded beneath; without it nothing raises the signal. Then it goes on
// allocating.
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>

#include "jump_below.h"
#include "say.h"

enum { kJumps = 50, kPairsBetween = 20, kPairsAfter = 5000 };
static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void jump(int signal_number) {
  (void)signal_number;
  errno = 0;
  allocate_pairs(1);
  ++jumps;
  siglongjmp(back, 1);
}

static void call(int which, void* block) {
  void* to_free = which == 4 ? keep(malloc(100)) : NULL;
  errno = kJumpErrno;
  void* result = NULL;
  switch (which) {
    case 0:
      result = malloc(100);
      break;
    case 1:
      result = calloc(10, 10);
      break;
    case 2:
      result = memalign(64, 100);
      break;
    case 3:
      result = realloc(block, 100);  // of the same size: the block stays where it is
      if (result == block) result = NULL;
      break;
    default:
      free(to_free);
  }
  errno = 0;
  free(result);
}

int main(void) {
  struct sigaction action = {.sa_handler = jump};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  void* block = keep(malloc(100));
  for (volatile int i = 0; i < 5 * kJumps; ++i) {
    if (sigsetjmp(back, 1) == 0) call(i % 5, block);
    allocate_pairs(kPairsBetween);
  }
  allocate_pairs(kPairsAfter);
  errno = 0;
  free(block);
  say("{\"ok\": true, \"jumps\": %d, \"pairs\": %d}\n", (int)jumps,
      5 * kJumps * kPairsBetween + kPairsAfter);
  return 0;
}
