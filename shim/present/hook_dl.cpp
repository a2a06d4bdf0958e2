// dlsym, dlvsym and dlopen are entered in interpose/tail_jump.S, which jumps straight to the real
// function for every name that is not ours: glibc looks at the caller's return address. This file
// has what it calls.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/compiler.h"
#include "interpose/module_list.h"
#include "interpose/switches.h"
#include "libc/real_libc.h"
#include "present/next_symbol.h"
#include "record/recorder.h"

using hitch::libc::g_real;

extern "C" {

HITCH_EXPORT void* dlsym(void* handle, const char* name);
HITCH_EXPORT void* dlvsym(void* handle, const char* name, const char* version);
HITCH_EXPORT void* dlopen(const char* name, int flags);

[[gnu::visibility("hidden")]] constinit void* hitch_real_dlsym = nullptr;
[[gnu::visibility("hidden")]] constinit void* hitch_real_dlvsym = nullptr;
[[gnu::visibility("hidden")]] constinit void* hitch_real_dlopen = nullptr;
[[gnu::visibility("hidden")]] constinit std::uint32_t hitch_deepbind_stripped = 0;
[[gnu::visibility("hidden")]] constinit std::uint8_t hitch_keep_deepbind = 0;

// On glibc before 2.34 these live in libdl.so.2, which may be loaded after start-up.
[[gnu::visibility("hidden")]] void hitch_find_loader_entries() {
  hitch::libc::resolve_real_libc();
  const auto find = [](auto& slot, const char* name) {
    if (slot == nullptr)
      slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(
          hitch::libc::find_elsewhere(name));
    return reinterpret_cast<void*>(slot);
  };
  hitch_real_dlvsym = find(g_real.dlvsym, "dlvsym");
  hitch_real_dlopen = find(g_real.dlopen, "dlopen");
  find(g_real.dlclose, "dlclose");
  hitch_real_dlsym = find(g_real.dlsym, "dlsym");
}

}  // extern "C"

namespace {

// Lookups of the loader's own functions must find ours too, or the next lookup would pass us by.
void* loader_hook(const char* name) {
  if (name[0] != 'd' || name[1] != 'l') return nullptr;
  if (std::strcmp(name, "dlsym") == 0) return reinterpret_cast<void*>(&dlsym);
  if (std::strcmp(name, "dlvsym") == 0) return reinterpret_cast<void*>(&dlvsym);
  if (std::strcmp(name, "dlopen") == 0) return reinterpret_cast<void*>(&dlopen);
  return nullptr;
}

void* answer(const char* name, void* real) {
  if (void* hook = loader_hook(name)) return real != nullptr ? hook : nullptr;
  hitch::present::Symbol symbol{};
  if (hitch::present::hook_for(name, symbol) == nullptr) return real;
  return hitch::present::hand_out(symbol, real);
}

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] int hitch_is_hooked_name(const char* name) {
  if (name == nullptr || !hitch::interpose::g_switches.dlsym) return 0;
  hitch::present::Symbol symbol{};
  return static_cast<int>(hitch::present::hook_for(name, symbol) != nullptr ||
                          loader_hook(name) != nullptr);
}

[[gnu::visibility("hidden")]] void* hitch_hooked_dlsym(void* handle, const char* name) {
  return answer(name, g_real.dlsym(handle, name));
}

[[gnu::visibility("hidden")]] void* hitch_hooked_dlvsym(void* handle, const char* name,
                                                        const char* version) {
  return answer(name, g_real.dlvsym(handle, name, version));
}

}  // extern "C"

// Modules are announced before they can go, and their going afterwards.
HITCH_EXPORT int dlclose(void* handle) {
  if (g_real.dlclose == nullptr) hitch_find_loader_entries();
  hitch::record::ThreadState* state = hitch::record::enter();
  if (state != nullptr) hitch::interpose::announce_modules(*state);
  const int status = g_real.dlclose(handle);
  state = hitch::record::enter();
  if (state != nullptr) hitch::interpose::announce_modules(*state);
  return status;
}
