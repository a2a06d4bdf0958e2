// A GL library without a screen. Arguments that are not the expected ones are not counted.
#include "fake_gl.h"

#include <string.h>

static int presents;
int fake_presents(void) { return presents; }
int fake_value(void) { return 41; }

static unsigned present(const void* display, const void* surface) {
  if (display != (void*)0x11 || surface != (void*)0x22) return 0;
  ++presents;
  return 1;
}

void glXSwapBuffers(void* display, unsigned long drawable) { present(display, (void*)drawable); }
int64_t glXSwapBuffersMscOML(void* display, unsigned long drawable, int64_t target, int64_t divisor,
                             int64_t remainder) {
  if (target != 3 || divisor != 4 || remainder != 5) return -1;
  return present(display, (void*)drawable) != 0 ? presents : -1;
}
unsigned eglSwapBuffers(void* display, void* surface) { return present(display, surface); }
unsigned eglSwapBuffersWithDamageKHR(void* display, void* surface, int* rects, int count) {
  return rects != 0 && count == 2 ? present(display, surface) : 0;
}
unsigned eglSwapBuffersWithDamageEXT(void* display, void* surface, int* rects, int count) {
  return eglSwapBuffersWithDamageKHR(display, surface, rects, count);
}

static FakeProc find(const char* name) {
#define ENTRY(function) \
  if (strcmp(name, #function) == 0) return (FakeProc)function
  ENTRY(glXSwapBuffers);
  ENTRY(glXSwapBuffersMscOML);
  ENTRY(eglSwapBuffers);
  ENTRY(eglSwapBuffersWithDamageKHR);
  ENTRY(eglSwapBuffersWithDamageEXT);
#undef ENTRY
  return strcmp(name, "fake_value") == 0 ? (FakeProc)fake_value : 0;
}
FakeProc glXGetProcAddress(const unsigned char* name) { return find((const char*)name); }
FakeProc glXGetProcAddressARB(const unsigned char* name) { return find((const char*)name); }
FakeProc eglGetProcAddress(const char* name) { return find(name); }
