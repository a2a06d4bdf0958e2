// A windowing library over the GL library, for presents within presents.
#include "fake_gl.h"

void SDL_GL_SwapWindow(void* window);
void SDL_GL_SwapWindow(void* window) {
  (void)window;
  glXSwapBuffers((void*)0x11, 0x22);
}
