// Reaps every orphan below it, as launchers do: it must see its own child and grandchild and nobody
// else.
#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "say.h"

int main(void) {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  allocate_pairs(1000);
  errno = 0;
  REQUIRE(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (fork() == 0) {
      usleep(20000);
      allocate_pairs(100);
      _exit(12);
    }
    allocate_pairs(100);
    _exit(11);
  }
  int reaped = 0;
  int status = 0;
  while (wait(&status) > 0) {
    REQUIRE(WIFEXITED(status) && (WEXITSTATUS(status) == 11 || WEXITSTATUS(status) == 12));
    ++reaped;
  }
  REQUIRE(errno == ECHILD && reaped == 2);
  allocate_pairs(1000);
  say("{\"ok\": true, \"reaped\": %d}\n", reaped);
  return 0;
}
