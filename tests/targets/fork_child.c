// The parent makes 1,000 pairs, a child 5,000, the parent 1,000 more: fork_child
// fork|_Fork|clone|vfork|exec
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "fork";
  if (strcmp(way, "leaf") == 0) {
    allocate_pairs(5000);
    return 7;
  }
  allocate_pairs(1000);
  pid_t child = -1;
  if (strcmp(way, "fork") == 0 || strcmp(way, "exec") == 0) {
    child = fork();
  } else if (strcmp(way, "vfork") == 0) {
    child = vfork();
  } else if (strcmp(way, "clone") == 0) {
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  } else if (strcmp(way, "_Fork") == 0) {
    pid_t (*bare_fork)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "_Fork");
    if (bare_fork == NULL) {
      say("{\"ok\": true, \"skipped\": true}\n");
      return 0;
    }
    child = bare_fork();
  }
  if (child == 0) {
    if (strcmp(way, "vfork") == 0 || strcmp(way, "exec") == 0) {
      execl("/proc/self/exe", argv[0], "leaf", (char*)NULL);
      _exit(93);
    }
    allocate_pairs(5000);
    _exit(7);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  allocate_pairs(1000);
  say("{\"ok\": true, \"allocs\": 2000, \"frees\": 2000}\n");
  return 0;
}
