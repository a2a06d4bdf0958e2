// Everything the manuals promise about the allocation functions.
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdint.h>

#include "say.h"

static volatile size_t huge = SIZE_MAX;
static volatile size_t zero = 0;

static int aligned_to(const void* block, size_t alignment) {
  return block != NULL && (uintptr_t)block % alignment == 0;
}

static void zero_sizes(void) {
  void* a = malloc(zero);
  void* b = malloc(zero);
  REQUIRE(a != NULL && b != NULL && a != b);
  free(a);
  free(b);
  void* c = calloc(zero, 8);
  REQUIRE(c != NULL);
  REQUIRE(realloc(c, zero) == NULL);
  void* d = realloc(NULL, zero);
  REQUIRE(d != NULL);
  free(d);
  free(NULL);
}

static void overflows(void) {
  errno = 0;
  REQUIRE(calloc(huge / 2, 4) == NULL && errno == ENOMEM);
  errno = 0;
  REQUIRE(malloc(huge) == NULL && errno == ENOMEM);
  void* block = malloc(10);
  errno = 0;
  REQUIRE(reallocarray(block, huge / 2, 4) == NULL && errno == ENOMEM);
  errno = 0;
  REQUIRE(realloc(block, huge) == NULL && errno == ENOMEM);
  block = reallocarray(block, 10, 40);
  REQUIRE(block != NULL && malloc_usable_size(block) >= 400);
  free(block);
  errno = 0;
  REQUIRE(memalign(64, huge - 8) == NULL && errno == ENOMEM);
}

static void alignment(void) {
  void* block = NULL;
  void* const mark = &block;
  block = mark;
  errno = 77;
  REQUIRE(posix_memalign(&block, 3 * sizeof(void*), 8) == EINVAL && block == mark);
  REQUIRE(posix_memalign(&block, sizeof(void*) / 2, 8) == EINVAL && block == mark);
  REQUIRE(posix_memalign(&block, 64, huge) == ENOMEM);
  REQUIRE(errno == 77 || errno == ENOMEM);
  for (size_t alignment = sizeof(void*); alignment <= 65536; alignment *= 2) {
    REQUIRE(posix_memalign(&block, alignment, 100) == 0 && aligned_to(block, alignment));
    free(block);
    block = aligned_alloc(alignment, 2 * alignment);
    REQUIRE(aligned_to(block, alignment));
    free(block);
    block = memalign(alignment, 10);
    REQUIRE(aligned_to(block, alignment));
    free(block);
  }
  block = valloc(10);
  REQUIRE(aligned_to(block, 4096));
  free(block);
  block = pvalloc(10);
  REQUIRE(aligned_to(block, 4096) && malloc_usable_size(block) >= 4096);
  free(block);
}

static void contents(void) {
  for (size_t bytes = 1; bytes < 3000000; bytes = bytes * 3 + 1) {
    char* block = malloc(bytes);
    REQUIRE(block != NULL);
    const size_t usable = malloc_usable_size(block);
    REQUIRE(usable >= bytes);
    memset(block, 0x5a, usable);
    block = realloc(block, bytes * 2);
    REQUIRE(block != NULL);
    for (size_t i = 0; i < bytes; ++i) REQUIRE(block[i] == 0x5a);
    block = realloc(block, bytes / 2 + 1);
    REQUIRE(block != NULL && block[bytes / 2] == 0x5a);
    free(block);
    char* zeroed = calloc(bytes, 1);
    REQUIRE(zeroed != NULL);
    for (size_t i = 0; i < bytes; ++i) REQUIRE(zeroed[i] == 0);
    free(zeroed);
  }
  REQUIRE(malloc_usable_size(NULL) == 0);
}

static void errno_survives(void) {
  void* small = malloc(10);
  void* large = malloc(50000000);
  REQUIRE(small != NULL && large != NULL);
  errno = 4321;
  free(small);
  free(large);
  free(NULL);
  REQUIRE(errno == 4321);
  small = malloc(100);
  REQUIRE(errno == 4321);
  small = realloc(small, 5000);
  REQUIRE(errno == 4321);
  free(small);
  REQUIRE(errno == 4321);
}

int main(void) {
  errno_survives();
  zero_sizes();
  overflows();
  alignment();
  contents();
  say("{\"ok\": true}\n");
  return 0;
}
