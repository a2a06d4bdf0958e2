#include "libc/bootstrap_arena.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hitch::libc {
namespace {

constexpr std::size_t kArenaBytes = 64 * 1024;
constexpr std::size_t kHeader = 16;  // each block is preceded by its size
alignas(64) constinit unsigned char g_arena[kArenaBytes] = {};
constinit std::size_t g_used = 0;

}  // namespace

void* bootstrap_memalign(std::size_t alignment, std::size_t bytes) {
  if (alignment < 16) alignment = 16;
  if (bytes <= kArenaBytes && alignment <= kArenaBytes) {
    const auto base = reinterpret_cast<std::uintptr_t>(g_arena);
    std::size_t used = __atomic_load_n(&g_used, __ATOMIC_RELAXED);
    for (;;) {
      const std::uintptr_t block = (base + used + kHeader + alignment - 1) & ~(alignment - 1);
      const std::size_t end = block + bytes - base;
      if (end > kArenaBytes) break;
      if (__atomic_compare_exchange_n(&g_used, &used, end, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        reinterpret_cast<std::size_t*>(block)[-1] = bytes;
        return reinterpret_cast<void*>(block);
      }
    }
  }
  errno = ENOMEM;
  return nullptr;
}

void* bootstrap_malloc(std::size_t bytes) { return bootstrap_memalign(16, bytes); }

void* bootstrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return bootstrap_malloc(total);  // never reused, so still zero
}

void* bootstrap_realloc(void* block, std::size_t bytes) {
  void* moved = bootstrap_malloc(bytes);
  if (block != nullptr && moved != nullptr) {
    const std::size_t old_bytes = bootstrap_usable_size(block);
    std::memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
  }
  return moved;
}

int bootstrap_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  const int saved_errno = errno;
  void* found = bootstrap_memalign(alignment, bytes);
  errno = saved_errno;
  if (found == nullptr) return ENOMEM;
  *block = found;
  return 0;
}

void* bootstrap_page_aligned(std::size_t bytes) { return bootstrap_memalign(4096, bytes); }

void bootstrap_free(void*) {}

std::size_t bootstrap_usable_size(void* block) {
  return block == nullptr ? 0 : static_cast<const std::size_t*>(block)[-1];
}

}  // namespace hitch::libc
