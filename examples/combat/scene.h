// The fight: a hero in the middle fires at enemies around; every hit makes a damage label, some an
// explosion.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobs.h"
#include "random.h"

namespace combat {

struct Vec2 {
  float x = 0, y = 0;
};

// The number that rises from an enemy when it is hit. About 400 of them are made in a second.
struct DamageLabel {
  Vec2 position;
  Vec2 velocity;
  std::string text;
  std::uint32_t colour = 0;
  float age = 0;
};

struct Particle {
  Vec2 position;
  Vec2 velocity;
  std::uint32_t colour = 0;
  float age = 0;
};

// Emits particles for a while: its vector grows, and grows again.
struct Explosion {
  Vec2 position;
  std::uint32_t colour = 0;
  float age = 0;
  std::vector<Particle> particles;
};

struct Projectile {
  Vec2 position;
  Vec2 velocity;
  std::size_t target = 0;
};

struct Enemy {
  Vec2 position;
  float health = 1;
  float heading = 0;
  std::vector<Vec2> path;
};

class Scene {
 public:
  static constexpr float kWidth = 960;
  static constexpr float kHeight = 540;

  Scene(Jobs& jobs, std::uint64_t seed);

  // One sixtieth of a second. Everything but the timing depends on the seed alone.
  void step();

  const std::vector<Enemy>& enemies() const { return enemies_; }
  const std::vector<std::unique_ptr<Projectile>>& projectiles() const { return projectiles_; }
  const std::vector<std::unique_ptr<DamageLabel>>& labels() const { return labels_; }
  const std::list<Explosion>& explosions() const { return explosions_; }
  Vec2 hero() const { return {kWidth / 2, kHeight / 2}; }
  std::size_t hits() const { return hits_; }

 private:
  void fire();
  void fly();
  void hit(std::size_t target);
  void plan_paths(std::size_t first, std::size_t last);
  void age_labels();

  Jobs& jobs_;
  Random random_;
  std::vector<Enemy> enemies_;
  std::vector<std::unique_ptr<Projectile>> projectiles_;
  std::vector<std::unique_ptr<DamageLabel>> labels_;
  std::list<Explosion> explosions_;
  std::unordered_map<std::string, int> score_;
  int frame_ = 0;
  std::size_t hits_ = 0;
};

}  // namespace combat
