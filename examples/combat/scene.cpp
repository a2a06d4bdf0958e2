#include "scene.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace combat {
namespace {

constexpr float kStep = 1.0f / 60;
constexpr std::size_t kEnemies = 48;
constexpr int kHitsPerMinute = 400 * 60;
constexpr int kFlightFrames = 30;
constexpr float kLabelLife = 0.75f;
constexpr float kExplosionLife = 1.2f;
constexpr float kEmitting = 0.5f;
constexpr std::size_t kWorkerShares = 4;
constexpr std::uint32_t kColours[] = {0xff5a4e, 0xffb347, 0xffe66d, 0x8ee26b, 0x5ac8fa, 0xc58cff};

Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 operator*(Vec2 a, float factor) { return {a.x * factor, a.y * factor}; }

void advance(Explosion& explosion, std::uint64_t seed) {
  Random random(seed);
  explosion.age += kStep;
  if (explosion.age < kEmitting) {
    for (int i = 0; i < 5; ++i) {
      const float angle = random.between(0, 6.2831853f);
      const float speed = random.between(20, 140);
      explosion.particles.push_back({explosion.position,
                                     {std::cos(angle) * speed, std::sin(angle) * speed},
                                     explosion.colour,
                                     0});
    }
  }
  for (Particle& particle : explosion.particles) {
    particle.age += kStep;
    particle.velocity = particle.velocity * 0.97f + Vec2{0, 60 * kStep};
    particle.position = particle.position + particle.velocity * kStep;
  }
}

// A best-first search over a coarse grid: the kind of code that allocates a node at a time.
std::vector<Vec2> find_path(Vec2 from, Vec2 to) {
  constexpr float kCell = 30;
  struct Node {
    float cost;
    int x, y;
    bool operator<(const Node& other) const { return cost > other.cost; }
  };
  const int goal_x = static_cast<int>(to.x / kCell), goal_y = static_cast<int>(to.y / kCell);
  std::priority_queue<Node> open;
  std::unordered_map<int, int> came_from;
  open.push({0, static_cast<int>(from.x / kCell), static_cast<int>(from.y / kCell)});
  std::vector<Vec2> path;
  while (!open.empty() && came_from.size() < 60) {
    const Node node = open.top();
    open.pop();
    path.push_back({static_cast<float>(node.x) * kCell, static_cast<float>(node.y) * kCell});
    if (node.x == goal_x && node.y == goal_y) break;
    for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
      const int x = node.x + dx, y = node.y + dy;
      if (!came_from.try_emplace(y * 1000 + x, node.y * 1000 + node.x).second) continue;
      const auto distance = static_cast<float>(std::abs(x - goal_x) + std::abs(y - goal_y));
      open.push({distance, x, y});
    }
  }
  return path;
}

}  // namespace

Scene::Scene(Jobs& jobs, std::uint64_t seed) : jobs_(jobs), random_(seed), enemies_(kEnemies) {
  for (Enemy& enemy : enemies_) {
    enemy.heading = random_.between(0, 6.2831853f);
    const float distance = random_.between(120, 250);
    enemy.position = hero() + Vec2{std::cos(enemy.heading) * distance * 1.6f,
                                   std::sin(enemy.heading) * distance};
  }
}

void Scene::step() {
  ++frame_;
  for (std::size_t share = 0; share < kWorkerShares; ++share) {
    const std::size_t first = kEnemies * share / kWorkerShares;
    const std::size_t last = kEnemies * (share + 1) / kWorkerShares;
    jobs_.submit([this, first, last] { plan_paths(first, last); });
  }
  age_labels();
  jobs_.wait();

  for (Explosion& explosion : explosions_) {
    const std::uint64_t seed = random_.next();
    jobs_.submit([&explosion, seed] { advance(explosion, seed); });
  }
  jobs_.wait();
  explosions_.remove_if([](const Explosion& explosion) { return explosion.age > kExplosionLife; });

  fire();
  fly();
}

// As many projectiles as there shall be hits; each arrives after the same flight.
void Scene::fire() {
  const int due = frame_ * kHitsPerMinute / 3600 - (frame_ - 1) * kHitsPerMinute / 3600;
  for (int i = 0; i < due; ++i) {
    const std::size_t target = random_.below(kEnemies);
    const Vec2 way = enemies_[target].position + hero() * -1;
    auto projectile = std::make_unique<Projectile>();
    projectile->position = hero();
    projectile->velocity = way * (1.0f / (kFlightFrames * kStep));
    projectile->target = target;
    projectiles_.push_back(std::move(projectile));
  }
}

void Scene::fly() {
  const auto arrived = [this](const std::unique_ptr<Projectile>& projectile) {
    projectile->position = projectile->position + projectile->velocity * kStep;
    const Vec2 way = projectile->position + hero() * -1;
    const Vec2 goal = enemies_[projectile->target].position + hero() * -1;
    return way.x * way.x + way.y * way.y >= (goal.x * goal.x + goal.y * goal.y) * 0.998f;
  };
  std::vector<std::size_t> struck;
  std::erase_if(projectiles_, [&](const std::unique_ptr<Projectile>& projectile) {
    if (!arrived(projectile)) return false;
    struck.push_back(projectile->target);
    return true;
  });
  for (const std::size_t target : struck) hit(target);
}

void Scene::hit(std::size_t target) {
  ++hits_;
  Enemy& enemy = enemies_[target];
  const int damage = 10 + static_cast<int>(random_.below(990));
  const std::uint32_t colour = kColours[random_.below(std::size(kColours))];

  std::unique_ptr<DamageLabel> label(new DamageLabel());
  label->position = enemy.position + Vec2{random_.between(-14, 4), -18};
  label->velocity = {random_.between(-12, 12), -45};
  label->colour = damage > 900 ? 0xffffff : colour;
  label->text = std::to_string(damage);
  labels_.push_back(std::move(label));
  score_["damage to enemy " + std::to_string(target)] += damage;

  enemy.health -= static_cast<float>(damage) / 8000;
  if (enemy.health > 0 && random_.below(12) != 0) return;
  explosions_.push_back({enemy.position, colour, 0, {}});
  if (enemy.health <= 0) enemy.health = 1;
}

void Scene::plan_paths(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (static_cast<int>(i) % 4 == frame_ % 4)
      enemies_[i].path = find_path(enemies_[i].position, hero());
    enemies_[i].heading += 0.05f;
  }
}

void Scene::age_labels() {
  for (const std::unique_ptr<DamageLabel>& label : labels_) {
    label->age += kStep;
    label->position = label->position + label->velocity * kStep;
  }
  std::erase_if(labels_, [](const auto& label) { return label->age > kLabelLife; });
}

}  // namespace combat
