/* An executable with its own malloc, as one with jemalloc linked into it. Never run. */
#include <stddef.h>

void* malloc(size_t bytes);
void* je_mallctl(void);

void* malloc(size_t bytes) {
  (void)bytes;
  return NULL;
}
void* je_mallctl(void) { return NULL; }

int main(void) { return 0; }
