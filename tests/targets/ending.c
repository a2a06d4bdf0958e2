// 20,000 pairs, then an end: ending exit|_exit|quick_exit|kill9|segv|abort|pthread_exit|term
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "say.h"

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "exit";
  allocate_pairs(20000);
  say("{\"ok\": true, \"allocs\": 20000, \"frees\": 20000}\n");
  if (strcmp(way, "_exit") == 0) _exit(5);
  if (strcmp(way, "quick_exit") == 0) quick_exit(6);
  if (strcmp(way, "kill9") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "segv") == 0) {
    volatile int* volatile nowhere = NULL;
    *nowhere = 1;
  }
  if (strcmp(way, "pthread_exit") == 0) pthread_exit(NULL);
  return 4;
}
