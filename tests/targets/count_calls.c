// An independent counter, preloaded beneath the shim: $COUNT_FILE holds the totals, always up to
// date.
#include "count_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static _Atomic unsigned long before_main[kCounters], *totals = before_main;

// The file takes over before there is a second thread.
__attribute__((constructor)) static void open_file(void) {
  const char *path = getenv("COUNT_FILE"), *program = getenv("COUNT_PROGRAM");
  if (program == NULL || strcmp(program, program_invocation_short_name) != 0) return;
  const int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof before_main) != 0) return;
  void* map = mmap(NULL, sizeof before_main, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (map == MAP_FAILED) return;
  memcpy(map, (void*)before_main, sizeof before_main);
  totals = map;
}

static void count(int which, unsigned long n) {
  atomic_fetch_add_explicit(&totals[which], n, memory_order_relaxed);
}
static void* counted(size_t bytes, void* block) {
  count(kAllocs, 1);
  if (block != NULL) count(kBytes, bytes);
  return block;
}

void* malloc(size_t n) { return counted(n, __libc_malloc(n)); }
void* calloc(size_t n, size_t each) { return counted(n * each, __libc_calloc(n, each)); }
void* memalign(size_t a, size_t n) { return counted(n, __libc_memalign(a, n)); }
void* aligned_alloc(size_t a, size_t n) { return counted(n, __libc_memalign(a, n)); }
int posix_memalign(void** block, size_t a, size_t n) {
  if (a < sizeof(void*) || (a & (a - 1)) != 0) return counted(0, NULL), EINVAL;
  void* p = counted(n, __libc_memalign(a, n));
  return p == NULL ? ENOMEM : (*block = p, 0);
}
void* realloc(void* old, size_t n) {
  if (old == NULL) return counted(n, __libc_realloc(old, n));
  count(kReallocs, 1);
  return __libc_realloc(old, n);
}
void free(void* block) {
  count(block == NULL ? kNullFrees : kFrees, 1);
  __libc_free(block);
}
