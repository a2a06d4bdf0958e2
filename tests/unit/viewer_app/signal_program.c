/* Ends with status 6 at SIGINT, whatever its parent did with that signal. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void end(int number) {
  (void)number;
  _exit(6);
}

int main(void) {
  signal(SIGINT, end);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
