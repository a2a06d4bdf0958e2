#include "draw.h"

#include <algorithm>
#include <cmath>

namespace combat {
namespace {

// Digits in a raster of 3 x 5, a row in three bits, the top row first.
constexpr std::uint16_t kDigits[10] = {
    0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111, 0b111'001'111'001'111,
    0b101'101'111'001'001, 0b111'100'111'001'111, 0b111'100'111'101'111, 0b111'001'010'010'010,
    0b111'101'111'101'111, 0b111'101'111'001'111};

SDL_Rect square(Vec2 centre, int size) {
  return {static_cast<int>(centre.x) - size / 2, static_cast<int>(centre.y) - size / 2, size, size};
}

void add_digit(std::vector<SDL_Rect>& rects, char digit, int x, int y) {
  const std::uint16_t raster = kDigits[digit - '0'];
  for (int bit = 0; bit < 15; ++bit) {
    if ((raster >> (14 - bit) & 1) != 0) rects.push_back({x + bit % 3 * 2, y + bit / 3 * 2, 2, 2});
  }
}

}  // namespace

void Painter::draw(const Scene& scene, double work_ms) {
  background();
  enemies(scene);
  effects(scene);
  labels(scene);
  strip(work_ms);
}

void Painter::fill(std::uint32_t colour, const std::vector<SDL_Rect>& rects) {
  if (rects.empty()) return;
  SDL_SetRenderDrawColor(renderer_, static_cast<Uint8>(colour >> 16),
                         static_cast<Uint8>(colour >> 8), static_cast<Uint8>(colour),
                         SDL_ALPHA_OPAQUE);
  SDL_RenderFillRects(renderer_, rects.data(), static_cast<int>(rects.size()));
}

void Painter::background() {
  SDL_SetRenderDrawColor(renderer_, 16, 18, 30, SDL_ALPHA_OPAQUE);
  SDL_RenderClear(renderer_);
  rects_.clear();
  for (int x = 0; x < static_cast<int>(Scene::kWidth); x += 60)
    rects_.push_back({x, 0, 1, static_cast<int>(Scene::kHeight)});
  for (int y = 0; y < static_cast<int>(Scene::kHeight); y += 60)
    rects_.push_back({0, y, static_cast<int>(Scene::kWidth), 1});
  fill(0x1e2236, rects_);
}

void Painter::enemies(const Scene& scene) {
  rects_.clear();
  for (const Enemy& enemy : scene.enemies()) rects_.push_back(square(enemy.position, 22));
  fill(0x3b4261, rects_);

  rects_.clear();
  for (const Enemy& enemy : scene.enemies()) {
    const Vec2 eye = {enemy.position.x + 6 * std::cos(enemy.heading),
                      enemy.position.y + 6 * std::sin(enemy.heading)};
    rects_.push_back(square(eye, 6));
    SDL_Rect bar = {static_cast<int>(enemy.position.x) - 11,
                    static_cast<int>(enemy.position.y) + 14,
                    static_cast<int>(22 * std::max(enemy.health, 0.0f)), 3};
    rects_.push_back(bar);
  }
  fill(0xe06c75, rects_);

  rects_.assign(1, square(scene.hero(), 30));
  fill(0x61afef, rects_);
}

void Painter::effects(const Scene& scene) {
  rects_.clear();
  for (const auto& projectile : scene.projectiles())
    rects_.push_back(square(projectile->position, 4));
  fill(0xf8f8f2, rects_);

  for (const Explosion& explosion : scene.explosions()) {
    rects_.clear();
    for (const Particle& particle : explosion.particles)
      rects_.push_back(square(particle.position, particle.age < 0.4f ? 4 : 2));
    fill(explosion.colour, rects_);
  }
}

void Painter::labels(const Scene& scene) {
  for (const auto& label : scene.labels()) {
    rects_.clear();
    int x = static_cast<int>(label->position.x);
    for (const char digit : label->text) {
      add_digit(rects_, digit, x, static_cast<int>(label->position.y));
      x += 8;
    }
    fill(label->colour, rects_);
  }
}

void Painter::strip(double work_ms) {
  latest_ = (latest_ + 1) % history_.size();
  history_[latest_] = work_ms;
  constexpr int kBottom = static_cast<int>(Scene::kHeight);
  constexpr double kPixelsPerMs = 4;
  std::vector<SDL_Rect> slow;
  rects_.clear();
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const double ms = history_[(latest_ + 1 + i) % history_.size()];
    const int height = std::min(static_cast<int>(ms * kPixelsPerMs), 100);
    const SDL_Rect bar = {static_cast<int>(i) * 4, kBottom - height, 3, height};
    (ms > 6 ? slow : rects_).push_back(bar);
  }
  fill(0x4b5263, rects_);
  fill(0xff5a4e, slow);
}

}  // namespace combat
