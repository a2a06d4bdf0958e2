// The game's own mmap, munmap and mremap: engines with allocators of their own live there. Calls of
// the allocator beneath us are not the game's and are not counted.
#include <sys/types.h>

#include <cstdarg>
#include <cstddef>

#include "interpose/switches.h"
#include "libc/real_libc.h"
#include "record/recorder.h"

using hitch::format::BufferKind;
using hitch::libc::g_real;

namespace {

template <class Real>
HITCH_FAST auto traced_map(BufferKind kind, const void* address, std::size_t bytes,
                           std::uintptr_t caller, Real real) {
  hitch::record::ThreadState* state = hitch::record::enter();
  if (state == nullptr || !hitch::interpose::g_switches.map ||
      caller - hitch::interpose::g_allocator.start < hitch::interpose::g_allocator.bytes) {
    hitch::libc::resolve_real_libc();
    return real();
  }
  const hitch::record::HookScope scope(*state);
  const std::uint64_t t0 = hitch::record::now(*state);
  auto result = real();
  const std::uint64_t t1 = hitch::record::now(*state);
  hitch::base::add_once(state->slot->map_calls, 1);
  if (kind != BufferKind::kUnmap) hitch::base::add_once(state->slot->map_bytes, bytes);
  if ((state->mode & hitch::record::kRecord) != 0) {
    const std::uint64_t ticks = t1 - t0 < 0xffffffffu ? t1 - t0 : 0xffffffffu;
    if constexpr (sizeof(result) == sizeof(void*)) address = reinterpret_cast<const void*>(result);
    const std::uint64_t words[4] = {
        hitch::format::make_head(kind, t1 - state->tsc_base),
        reinterpret_cast<std::uint64_t>(address) & hitch::format::kAddressMask,
        caller & hitch::format::kAddressMask, ((bytes + 4095) / 4096 & 0xffffffffu) | ticks << 32};
    append(scope, words, 4);
  }
  return result;
}

}  // namespace

HITCH_EXPORT void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                        off_t offset) {
  return traced_map(BufferKind::kMap, address, bytes, HITCH_CALLER(),
                    [=] { return g_real.mmap(address, bytes, protection, flags, fd, offset); });
}

HITCH_EXPORT void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd,
                          off_t offset) {
  return traced_map(BufferKind::kMap, address, bytes, HITCH_CALLER(),
                    [=] { return g_real.mmap(address, bytes, protection, flags, fd, offset); });
}

HITCH_EXPORT int munmap(void* address, std::size_t bytes) {
  return traced_map(BufferKind::kUnmap, address, bytes, HITCH_CALLER(),
                    [=] { return g_real.munmap(address, bytes); });
}

HITCH_EXPORT void* mremap(void* address, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* target =
      va_arg(arguments, void*);  // unspecified, and unread by the kernel, without MREMAP_FIXED
  va_end(arguments);
  return traced_map(BufferKind::kRemap, address, bytes, HITCH_CALLER(),
                    [=] { return g_real.mremap(address, old_bytes, bytes, flags, target); });
}
