#include "present/next_symbol.h"

#include <dlfcn.h>

#include <cstring>

#include "base/compiler.h"
#include "libc/real_libc.h"
#include "present/hooks.h"

using hitch::libc::g_real;

namespace hitch::present {
namespace {

struct Entry {
  const char* name;
  const char* library;
  void* hook;
};

// Hooks are named through hidden aliases: the address of an exported function may be another
// library's.
const Entry kEntries[kSymbols] = {
#define HITCH_SYMBOL(name, library) {#name, library, reinterpret_cast<void*>(hitch_hook_##name)},
#include "present/symbols.def"
#undef HITCH_SYMBOL
};

constinit void* g_next[kSymbols] = {};

void* find_real(const Entry& entry) {
  libc::resolve_real_libc();
  if (g_real.dlsym == nullptr || g_real.dlopen == nullptr) return libc::find_elsewhere(entry.name);
  void* found = g_real.dlsym(RTLD_NEXT, entry.name);
  if (found == nullptr || found == entry.hook) {
    // Opened RTLD_LOCAL: not in the global scope. Never loads anything.
    void* library = g_real.dlopen(entry.library, RTLD_LAZY | RTLD_NOLOAD);
    found = library != nullptr ? g_real.dlsym(library, entry.name) : nullptr;
  }
  if (found == nullptr || found == entry.hook) found = libc::find_elsewhere(entry.name);
  return found != entry.hook ? found : nullptr;
}

}  // namespace

void* next_symbol(Symbol symbol) {
  void* next = __atomic_load_n(&g_next[symbol], __ATOMIC_ACQUIRE);
  if (HITCH_LIKELY(next != nullptr)) return next;
  next = find_real(kEntries[symbol]);
  __atomic_store_n(&g_next[symbol], next, __ATOMIC_RELEASE);
  return next;
}

void* hook_for(const char* name, Symbol& symbol) {
  if (name[0] != 'g' && name[0] != 'e' && name[0] != 'S') return nullptr;
  for (unsigned i = 0; i < kSymbols; ++i) {
    if (std::strcmp(name, kEntries[i].name) == 0) {
      symbol = static_cast<Symbol>(i);
      return kEntries[i].hook;
    }
  }
  return nullptr;
}

void* hand_out(Symbol symbol, void* real) {
  const Entry& entry = kEntries[symbol];
  if (real == entry.hook) {
    // The lookup came back to us (RTLD_DEFAULT, or a library whose own references bind to ours).
    return next_symbol(symbol) != nullptr ? entry.hook : nullptr;
  }
  if (real == nullptr) return nullptr;
  __atomic_store_n(&g_next[symbol], real, __ATOMIC_RELEASE);
  return entry.hook;
}

}  // namespace hitch::present
