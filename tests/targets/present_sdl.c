// 20 presents with SDL's dummy video driver: present_sdl render|surface|rects. 10 pairs after each.
#include <SDL.h>

#include "say.h"

enum { kPresents = 20 };

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "render";
  REQUIRE(SDL_Init(SDL_INIT_VIDEO) == 0);
  SDL_Window* window = SDL_CreateWindow("probe", 0, 0, 64, 64, 0);
  REQUIRE(window != NULL);
  SDL_Renderer* renderer = NULL;
  if (strcmp(way, "render") == 0) {
    renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE);
    REQUIRE(renderer != NULL);
  } else {
    REQUIRE(SDL_GetWindowSurface(window) != NULL);
  }
  const SDL_Rect rect = {0, 0, 8, 8};
  for (int i = 0; i < kPresents; ++i) {
    if (renderer != NULL) SDL_RenderPresent(renderer);
    if (strcmp(way, "surface") == 0) REQUIRE(SDL_UpdateWindowSurface(window) == 0);
    if (strcmp(way, "rects") == 0) REQUIRE(SDL_UpdateWindowSurfaceRects(window, &rect, 1) == 0);
    allocate_pairs(10);
  }
  SDL_Quit();
  say("{\"ok\": true, \"presents\": %d}\n", kPresents);
  return 0;
}
