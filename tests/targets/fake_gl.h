// The entry points of GLX and EGL that matter here, with their real shapes, and what a test asks
// afterwards.
#pragma once
#include <stdint.h>

typedef void (*FakeProc)(void);

void glXSwapBuffers(void* display, unsigned long drawable);
int64_t glXSwapBuffersMscOML(void* display, unsigned long drawable, int64_t target, int64_t divisor,
                             int64_t remainder);
FakeProc glXGetProcAddress(const unsigned char* name);
FakeProc glXGetProcAddressARB(const unsigned char* name);
unsigned eglSwapBuffers(void* display, void* surface);
unsigned eglSwapBuffersWithDamageKHR(void* display, void* surface, int* rects, int count);
unsigned eglSwapBuffersWithDamageEXT(void* display, void* surface, int* rects, int count);
FakeProc eglGetProcAddress(const char* name);

int fake_presents(void);  // presents that arrived, whatever the entry point
int fake_value(void);     // 41; libfakewrap.so adds 1
