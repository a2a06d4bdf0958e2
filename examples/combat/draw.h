// Draws a scene with SDL's renderer: rectangles only, so that every driver can.
#pragma once
#include <SDL.h>

#include <array>
#include <cstdint>
#include <vector>

#include "scene.h"

namespace combat {

class Painter {
 public:
  explicit Painter(SDL_Renderer* renderer) : renderer_(renderer) {}

  // `work_ms` is what the last frame took; the strip at the bottom shows the latest ones.
  void draw(const Scene& scene, double work_ms);

 private:
  void fill(std::uint32_t colour, const std::vector<SDL_Rect>& rects);
  void background();
  void enemies(const Scene& scene);
  void effects(const Scene& scene);
  void labels(const Scene& scene);
  void strip(double work_ms);

  SDL_Renderer* renderer_;
  std::vector<SDL_Rect> rects_;
  std::array<double, 240> history_{};
  std::size_t latest_ = 0;
};

}  // namespace combat
