// Calls mmap, mremap and munmap itself, as engines with their own allocators do.
#include <sys/mman.h>

#include "say.h"

enum { kMaps = 100, kBytes = 1 << 20 };

int main(void) {
  for (int i = 0; i < kMaps; ++i) {
    char* memory = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    memory[0] = 7;
    memory = mremap(memory, kBytes, 2 * kBytes, MREMAP_MAYMOVE);
    REQUIRE(memory != MAP_FAILED && memory[0] == 7);
    REQUIRE(munmap(memory, 2 * kBytes) == 0);
  }
  REQUIRE(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  say("{\"ok\": true, \"map_calls\": %d}\n", 3 * kMaps + 1);
  return 0;
}
