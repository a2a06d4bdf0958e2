// Closes every descriptor it does not know, as daemons and some games do, then writes a file of its
// own among allocations: close_all_fds FILE. The file must hold its 2,000 lines and nothing else.
#include <fcntl.h>

#include "say.h"

enum { kLines = 2000 };

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  allocate_pairs(1000);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(file == 3);
  for (int i = 0; i < kLines; ++i) {
    char line[32];
    const int length = snprintf(line, sizeof line, "line %04d\n", i);
    REQUIRE(write(file, line, (size_t)length) == length);
    allocate_pairs(10);
  }
  REQUIRE(close(file) == 0);
  say("{\"ok\": true, \"allocs\": %d, \"frees\": %d}\n", 1000 + 10 * kLines, 1000 + 10 * kLines);
  return 0;
}
