// SDL2's present calls: the outer names of GL presents, and the only ones of its software paths.
// The same names exist in SDL3 with a bool result, so results are passed on as whole words.
#include <cstdint>

#include "base/compiler.h"
#include "present/next_symbol.h"
#include "present/present.h"

using hitch::format::Api;
using hitch::present::next_symbol;
using hitch::present::PresentScope;

namespace {

using Word = std::uintptr_t;

template <class... Arguments>
Word present_call(hitch::present::Symbol symbol, Arguments... arguments) {
  const auto real = reinterpret_cast<Word (*)(Arguments...)>(next_symbol(symbol));
  if (real == nullptr) return 0;
  const PresentScope scope(Api::kSdl);
  return real(arguments...);
}

}  // namespace

#define HOOK(result, name, parameters)                                                             \
  HITCH_EXPORT result name parameters;                                                             \
  extern "C" [[gnu::visibility("hidden"), gnu::alias(#name)]] result hitch_hook_##name parameters; \
  HITCH_EXPORT result name parameters

HOOK(Word, SDL_GL_SwapWindow, (Word window)) {
  return present_call(hitch::present::k_SDL_GL_SwapWindow, window);
}

HOOK(Word, SDL_RenderPresent, (Word renderer)) {
  return present_call(hitch::present::k_SDL_RenderPresent, renderer);
}

HOOK(Word, SDL_UpdateWindowSurface, (Word window)) {
  return present_call(hitch::present::k_SDL_UpdateWindowSurface, window);
}

HOOK(Word, SDL_UpdateWindowSurfaceRects, (Word window, Word rectangles, int count)) {
  return present_call(hitch::present::k_SDL_UpdateWindowSurfaceRects, window, rectangles, count);
}

HOOK(void, SDL_Delay, (std::uint32_t milliseconds)) {
  const auto real =
      reinterpret_cast<void (*)(std::uint32_t)>(next_symbol(hitch::present::k_SDL_Delay));
  if (real == nullptr) return;
  const hitch::present::SleepScope scope;
  real(milliseconds);
}
