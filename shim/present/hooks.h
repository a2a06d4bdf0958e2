// Hidden aliases of the exported present hooks, for handing out their addresses.
#pragma once

extern "C" {
#define HITCH_SYMBOL(name, library) [[gnu::visibility("hidden")]] void hitch_hook_##name();
#include "present/symbols.def"
#undef HITCH_SYMBOL
}
