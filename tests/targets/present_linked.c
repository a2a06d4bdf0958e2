// 20 presents through entry points bound at link time: present_linked glx|msc|egl|khr|ext|sdl
// 10 pairs after each.
#include "fake_gl.h"
#include "say.h"

void SDL_GL_SwapWindow(void* window);
int wrapped_presents(void) __attribute__((weak));

enum { kPresents = 20 };

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "glx";
  int rects[8] = {0};
  void* const display = (void*)0x11;
  void* const surface = (void*)0x22;
  for (int i = 0; i < kPresents; ++i) {
    if (strcmp(way, "glx") == 0) glXSwapBuffers(display, 0x22);
    if (strcmp(way, "msc") == 0) REQUIRE(glXSwapBuffersMscOML(display, 0x22, 3, 4, 5) == i + 1);
    if (strcmp(way, "egl") == 0) REQUIRE(eglSwapBuffers(display, surface) == 1);
    if (strcmp(way, "khr") == 0)
      REQUIRE(eglSwapBuffersWithDamageKHR(display, surface, rects, 2) == 1);
    if (strcmp(way, "ext") == 0)
      REQUIRE(eglSwapBuffersWithDamageEXT(display, surface, rects, 2) == 1);
    if (strcmp(way, "sdl") == 0) SDL_GL_SwapWindow(NULL);
    allocate_pairs(10);
  }
  REQUIRE(fake_presents() == kPresents);
  if (wrapped_presents != NULL) {
    REQUIRE(wrapped_presents() == kPresents);
    REQUIRE(fake_value() == 42);
  }
  say("{\"ok\": true, \"presents\": %d}\n", kPresents);
  return 0;
}
