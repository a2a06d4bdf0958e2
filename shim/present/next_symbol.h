// Where each intercepted present function really is. A game may get it at link time, through dlsym,
// or from a GetProcAddress function; the pointer it would have got is the one we call.
#pragma once

namespace hitch::present {

enum Symbol : unsigned {
#define HITCH_SYMBOL(name, library) k_##name,
#include "present/symbols.def"
#undef HITCH_SYMBOL
  kSymbols
};

// The real function, or nullptr when no loaded library has it. In order: the pointer the game was
// handed (remember_next), the next definition in the global scope, the library's own. Never our
// hook.
void* next_symbol(Symbol symbol);

// The hook for `name`, or nullptr when it is not intercepted. `symbol` receives which.
void* hook_for(const char* name, Symbol& symbol);

// A lookup of the game's found `real` for `symbol`. Returns what the game should get: our hook, or
// nullptr when there is nothing behind it.
void* hand_out(Symbol symbol, void* real);

}  // namespace hitch::present
