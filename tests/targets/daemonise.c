// Forks twice, leaves the session and goes on in the background: daemonise FILE. The file appears
// when it is done.
#include <fcntl.h>
#include <sys/wait.h>

#include "say.h"

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  allocate_pairs(1000);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child > 0) {
    REQUIRE(waitpid(child, NULL, 0) == child);
    say("{\"ok\": true}\n");
    return 0;
  }
  REQUIRE(setsid() >= 0);
  if (fork() != 0) _exit(0);
  for (int i = 0; i < 20; ++i) {
    allocate_pairs(1000);
    usleep(10000);
  }
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(file >= 0 && write(file, "done\n", 5) == 5);
  return 0;
}
