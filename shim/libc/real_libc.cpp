#include "libc/real_libc.h"

#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "base/syscall.h"
#include "libc/bootstrap_arena.h"
#include "libc/elf_lookup.h"

namespace hitch::libc {

constinit RealLibc g_real{};

namespace {

template <class F>
void resolve(F*& slot, const char* name) {
  slot = reinterpret_cast<F*>(find_next(name));
}

template <class F>
void fall_back(F*& slot, F* replacement) {
  if (slot == nullptr) slot = replacement;
}

long with_errno(long result) {
  if (result > -4096 && result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

void* raw_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, long offset) {
  return reinterpret_cast<void*>(with_errno(base::system_call(
      SYS_mmap, base::word(address), static_cast<long>(bytes), protection, flags, fd, offset)));
}

int raw_munmap(void* address, std::size_t bytes) {
  return static_cast<int>(
      with_errno(base::system_call(SYS_munmap, base::word(address), static_cast<long>(bytes))));
}

void* raw_mremap(void* address, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const long target = va_arg(arguments, long);
  va_end(arguments);
  return reinterpret_cast<void*>(
      with_errno(base::system_call(SYS_mremap, base::word(address), static_cast<long>(old_bytes),
                                   static_cast<long>(bytes), flags, target)));
}

}  // namespace

bool resolve_real_libc() {
  if (__atomic_load_n(&g_real.malloc, __ATOMIC_ACQUIRE) != nullptr) return true;
  RealLibc found{};
#define HITCH_REAL(name, result, parameters) resolve(found.name, #name);
#include "libc/libc_symbols.def"
#undef HITCH_REAL
  const bool complete = found.malloc != nullptr && found.free != nullptr &&
                        found.calloc != nullptr && found.realloc != nullptr;
  if (!complete) {
    found.malloc = bootstrap_malloc;
    found.free = bootstrap_free;
    found.calloc = bootstrap_calloc;
    found.realloc = bootstrap_realloc;
    found.memalign = bootstrap_memalign;
    found.posix_memalign = bootstrap_posix_memalign;
    found.aligned_alloc = bootstrap_memalign;
    found.valloc = found.pvalloc = bootstrap_page_aligned;
    found.malloc_usable_size = bootstrap_usable_size;
  }
  fall_back(found.mmap, raw_mmap);
  fall_back(found.munmap, raw_munmap);
  fall_back(found.mremap, raw_mremap);
  // malloc goes last: it is what readiness is judged by.
  auto* const ready = found.malloc;
  found.malloc = nullptr;
  g_real = found;
  __atomic_store_n(&g_real.malloc, ready, __ATOMIC_RELEASE);
  return complete;
}

void* find_elsewhere(const char* name) {
  const link_map* own = own_module();
  for (const link_map* module = first_module(); module != nullptr; module = module->l_next) {
    if (module == own) continue;
    if (void* found = find_in_module(module, name)) return found;
  }
  return nullptr;
}

}  // namespace hitch::libc
