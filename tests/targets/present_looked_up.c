// 20 presents through a pointer that was looked up: present_looked_up LIBRARY WAY NAME
//   WAY: dlsym, dlvsym, or the name of a GetProcAddress function. 10 pairs after each present.
#include <dlfcn.h>

#include "fake_gl.h"
#include "say.h"

enum { kPresents = 20 };

static FakeProc look_up(void* library, const char* way, const char* name) {
  if (strcmp(way, "dlsym") == 0) return (FakeProc)dlsym(library, name);
  if (strcmp(way, "dlvsym") == 0) return (FakeProc)dlvsym(library, name, "FAKEGL_1");
  FakeProc (*get)(const char*) = (FakeProc(*)(const char*))dlsym(library, way);
  REQUIRE(get != NULL);
  REQUIRE(get("there_is_no_such_function") == NULL);
  int (*value)(void) = (int (*)(void))get("fake_value");
  REQUIRE(value != NULL && value() == 41);
  return get(name);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 4);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != NULL);
  const char* name = argv[3];
  const FakeProc swap = look_up(library, argv[2], name);
  REQUIRE(swap != NULL);
  int rects[8] = {0};
  void* const display = (void*)0x11;
  void* const surface = (void*)0x22;
  for (int i = 0; i < kPresents; ++i) {
    if (strcmp(name, "glXSwapBuffers") == 0) {
      ((void (*)(void*, unsigned long))swap)(display, 0x22);
    } else if (strcmp(name, "glXSwapBuffersMscOML") == 0) {
      typedef int64_t (*Swap)(void*, unsigned long, int64_t, int64_t, int64_t);
      REQUIRE(((Swap)swap)(display, 0x22, 3, 4, 5) == i + 1);
    } else if (strcmp(name, "eglSwapBuffers") == 0) {
      REQUIRE(((unsigned (*)(void*, void*))swap)(display, surface) == 1);
    } else {
      typedef unsigned (*Swap)(void*, void*, int*, int);
      REQUIRE(((Swap)swap)(display, surface, rects, 2) == 1);
    }
    allocate_pairs(10);
  }
  int (*presents)(void) = (int (*)(void))dlsym(library, "fake_presents");
  REQUIRE(presents != NULL && presents() == kPresents);
  say("{\"ok\": true, \"presents\": %d}\n", kPresents);
  return 0;
}
