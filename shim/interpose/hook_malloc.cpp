// The malloc family. Each hook has one shape: say what is called and forward.
#include <cerrno>
#include <cstddef>

#include "libc/real_libc.h"
#include "record/recorder.h"

using hitch::format::Op;
using hitch::libc::g_real;
using hitch::record::traced_alloc;
using hitch::record::traced_free;
using hitch::record::traced_realloc;

namespace {

// A null pointer is counted apart and still forwarded: another interposer may sit beneath us.
HITCH_SLOW void free_null() {
  hitch::record::ThreadState* state = hitch::record::enter();
  if (state != nullptr) hitch::base::add_once(state->slot->null_frees, 1);
  g_real.free(nullptr);
}

HITCH_FAST void hooked_free(void* block, std::uintptr_t caller) {
  if (HITCH_UNLIKELY(block == nullptr)) {
    free_null();
    return;
  }
  traced_free(Op::kFree, block, caller, [block] { g_real.free(block); });
}

HITCH_FAST void* hooked_realloc(void* block, std::size_t size, std::uintptr_t caller) {
  if (HITCH_UNLIKELY(block == nullptr)) {
    return traced_alloc(Op::kRealloc, size, caller,
                        [size] { return g_real.realloc(nullptr, size); });
  }
  return traced_realloc(block, size, caller, [block, size] { return g_real.realloc(block, size); });
}

}  // namespace

HITCH_EXPORT void* malloc(std::size_t size) {
  return traced_alloc(Op::kMalloc, size, HITCH_CALLER(), [size] { return g_real.malloc(size); });
}

HITCH_EXPORT void free(void* block) { hooked_free(block, HITCH_CALLER()); }

HITCH_EXPORT void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = 0;  // the real one answers with ENOMEM
  return traced_alloc(Op::kCalloc, bytes, HITCH_CALLER(),
                      [count, size] { return g_real.calloc(count, size); });
}

HITCH_EXPORT void* realloc(void* block, std::size_t size) {
  return hooked_realloc(block, size, HITCH_CALLER());
}

// Built on realloc as glibc does: its own would come back to us through the PLT.
HITCH_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return hooked_realloc(block, bytes, HITCH_CALLER());
}

HITCH_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  return traced_alloc(Op::kAligned, size, HITCH_CALLER(),
                      [alignment, size] { return g_real.memalign(alignment, size); });
}

HITCH_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  int status = 0;
  traced_alloc(Op::kAligned, size, HITCH_CALLER(), [&]() -> void* {
    status = g_real.posix_memalign(block, alignment, size);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

HITCH_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return traced_alloc(Op::kAligned, size, HITCH_CALLER(),
                      [alignment, size] { return g_real.aligned_alloc(alignment, size); });
}

HITCH_EXPORT void* valloc(std::size_t size) {
  return traced_alloc(Op::kAligned, size, HITCH_CALLER(), [size] { return g_real.valloc(size); });
}

HITCH_EXPORT void* pvalloc(std::size_t size) {
  return traced_alloc(Op::kAligned, size, HITCH_CALLER(), [size] { return g_real.pvalloc(size); });
}

HITCH_EXPORT std::size_t malloc_usable_size(void* block) {
  hitch::libc::resolve_real_libc();
  return g_real.malloc_usable_size(block);
}

// C23. No glibc of today exports them, and the sizes are hints: plain free is always right.
HITCH_EXPORT void free_sized(void* block, std::size_t) { hooked_free(block, HITCH_CALLER()); }
HITCH_EXPORT void free_aligned_sized(void* block, std::size_t, std::size_t) {
  hooked_free(block, HITCH_CALLER());
}
