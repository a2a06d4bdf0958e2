// A library in front of the GL library that wraps two of its functions and finds the next one by
// RTLD_NEXT: dlsym must answer for this library, not for whoever stands between.
#include <dlfcn.h>

#include "fake_gl.h"

int wrapped_presents(void);
static int wrapped;
int wrapped_presents(void) { return wrapped; }

void glXSwapBuffers(void* display, unsigned long drawable) {
  void (*next)(void*, unsigned long) =
      (void (*)(void*, unsigned long))dlsym(RTLD_NEXT, "glXSwapBuffers");
  ++wrapped;
  next(display, drawable);
}
int fake_value(void) {
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "fake_value");
  return next() + 1;
}
