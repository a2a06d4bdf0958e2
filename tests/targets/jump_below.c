// Preloaded beneath the shim: a call made with errno kJumpErrno raises SIGUSR1, so that a handler
// interrupts it for certain, before the C library has touched anything.
#include "jump_below.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void maybe_jump(void) {
  if (errno == kJumpErrno) raise(SIGUSR1);
}

void* malloc(size_t bytes) {
  maybe_jump();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  maybe_jump();
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  maybe_jump();
  return __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  maybe_jump();
  return __libc_memalign(alignment, bytes);
}
void free(void* block) {
  maybe_jump();
  __libc_free(block);
}
