// An independent counter of what a game asks its allocator for. Preloaded in front of the shim, so
// that what the shim itself allocates does not pass; alone it counts the plain game. $COUNT_FILE
// holds the totals of the program named $COUNT_PROGRAM, always up to date.
#include "count_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
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

// The next definition of `name`. dlsym itself may allocate: until it has answered, glibc's own
// serves.
static int asking;
#define NEXT(name, meanwhile)                                 \
  static __typeof__(&name) next_##name;                       \
  if (next_##name == NULL) {                                  \
    if (asking) return meanwhile;                             \
    asking = 1;                                               \
    next_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    asking = 0;                                               \
  }

void* malloc(size_t n) {
  NEXT(malloc, __libc_malloc(n))
  return counted(n, next_malloc(n));
}
void* calloc(size_t n, size_t each) {
  NEXT(calloc, __libc_calloc(n, each))
  return counted(n * each, next_calloc(n, each));
}
void* realloc(void* old, size_t n) {
  NEXT(realloc, __libc_realloc(old, n))
  if (old == NULL) return counted(n, next_realloc(old, n));
  count(kReallocs, 1);
  return next_realloc(old, n);
}
// As in glibc: what overflows never reaches the allocator.
void* reallocarray(void* old, size_t n, size_t each) {
  size_t bytes;
  if (!__builtin_mul_overflow(n, each, &bytes)) return realloc(old, bytes);
  errno = ENOMEM;
  return NULL;
}
void free(void* block) {
  NEXT(free, __libc_free(block))
  count(block == NULL ? kNullFrees : kFrees, 1);
  next_free(block);
}
void* memalign(size_t a, size_t n) {
  NEXT(memalign, NULL)
  return counted(n, next_memalign(a, n));
}
void* aligned_alloc(size_t a, size_t n) {
  NEXT(aligned_alloc, NULL)
  return counted(n, next_aligned_alloc(a, n));
}
int posix_memalign(void** block, size_t a, size_t n) {
  NEXT(posix_memalign, ENOMEM)
  const int status = next_posix_memalign(block, a, n);
  return counted(n, status == 0 ? *block : NULL), status;
}
void* valloc(size_t n) {
  NEXT(valloc, NULL)
  return counted(n, next_valloc(n));
}
void* pvalloc(size_t n) {
  NEXT(pvalloc, NULL)
  return counted(n, next_pvalloc(n));
}
