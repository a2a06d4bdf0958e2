// GLX and EGL. Types are spelled as plain words: no GL header is needed, and none of the values is
// touched.
#include <cstdint>

#include "base/compiler.h"
#include "present/driver_name.h"
#include "present/next_symbol.h"
#include "present/present.h"

using hitch::format::Api;
using hitch::present::next_symbol;
using hitch::present::PresentScope;

namespace {

using Word = std::uintptr_t;

// Calls the real function inside a PresentScope. Answers 0 when there is none to call.
template <class Result, class... Arguments>
Result present_call(Api api, hitch::present::Symbol symbol, Arguments... arguments) {
  const auto real = reinterpret_cast<Result (*)(Arguments...)>(next_symbol(symbol));
  if (real == nullptr) return Result();
  const PresentScope scope(api);
  if (scope.outermost()) hitch::present::note_driver_name();
  return real(arguments...);
}

void* get_proc_address(hitch::present::Symbol getter, const char* name) {
  const auto real = reinterpret_cast<void* (*)(const char*)>(next_symbol(getter));
  if (real == nullptr) return nullptr;
  void* found = real(name);
  hitch::present::Symbol symbol{};
  if (name == nullptr || hitch::present::hook_for(name, symbol) == nullptr) return found;
  return hitch::present::hand_out(symbol, found);
}

}  // namespace

// HOOK(result, name, (parameters)): an exported function with a hidden alias.
#define HOOK(result, name, parameters)                                                             \
  HITCH_EXPORT result name parameters;                                                             \
  extern "C" [[gnu::visibility("hidden"), gnu::alias(#name)]] result hitch_hook_##name parameters; \
  HITCH_EXPORT result name parameters

HOOK(void, glXSwapBuffers, (Word display, Word drawable)) {
  present_call<void>(Api::kGlx, hitch::present::k_glXSwapBuffers, display, drawable);
}

HOOK(std::int64_t, glXSwapBuffersMscOML,
     (Word display, Word drawable, std::int64_t target, std::int64_t divisor,
      std::int64_t remainder)) {
  return present_call<std::int64_t>(Api::kGlx, hitch::present::k_glXSwapBuffersMscOML, display,
                                    drawable, target, divisor, remainder);
}

HOOK(unsigned, eglSwapBuffers, (Word display, Word surface)) {
  return present_call<unsigned>(Api::kEgl, hitch::present::k_eglSwapBuffers, display, surface);
}

HOOK(unsigned, eglSwapBuffersWithDamageKHR,
     (Word display, Word surface, Word rectangles, int count)) {
  return present_call<unsigned>(Api::kEgl, hitch::present::k_eglSwapBuffersWithDamageKHR, display,
                                surface, rectangles, count);
}

HOOK(unsigned, eglSwapBuffersWithDamageEXT,
     (Word display, Word surface, Word rectangles, int count)) {
  return present_call<unsigned>(Api::kEgl, hitch::present::k_eglSwapBuffersWithDamageEXT, display,
                                surface, rectangles, count);
}

HOOK(void*, glXGetProcAddress, (const char* name)) {
  return get_proc_address(hitch::present::k_glXGetProcAddress, name);
}

HOOK(void*, glXGetProcAddressARB, (const char* name)) {
  return get_proc_address(hitch::present::k_glXGetProcAddressARB, name);
}

HOOK(void*, eglGetProcAddress, (const char* name)) {
  return get_proc_address(hitch::present::k_eglGetProcAddress, name);
}

HOOK(void*, SDL_GL_GetProcAddress, (const char* name)) {
  return get_proc_address(hitch::present::k_SDL_GL_GetProcAddress, name);
}
