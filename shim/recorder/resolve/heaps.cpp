#include "recorder/resolve/heaps.h"

namespace hitch::resolve {

std::uint32_t Heaps::add(std::uint32_t game_id, std::uint32_t parent_plus_one,
                         const std::string& name) {
  if (heaps_.size() >= kMost) return 0;
  const auto fresh = static_cast<std::uint32_t>(heaps_.size());
  heaps_.push_back(std::make_unique<BlockLedger>(window_, 12));
  ids_.emplace(game_id, fresh);
  out_.put(format::trace::Heap{fresh, texts_.id(name), parent_plus_one});
  return fresh;
}

void Heaps::define(std::uint32_t game_id, std::uint32_t parent_plus_one, const std::string& name) {
  if (ids_.contains(game_id)) return;
  const auto parent = parent_plus_one != 0 ? ids_.find(parent_plus_one - 1) : ids_.end();
  add(game_id, parent != ids_.end() ? parent->second + 1 : 0, name);
}

std::uint32_t Heaps::id(std::uint32_t game_id) {
  const auto known = ids_.find(game_id);
  return known != ids_.end() ? known->second : add(game_id, 0, "heap " + std::to_string(game_id));
}

std::uint64_t Heaps::reset(std::uint32_t id) {
  const std::uint64_t blocks = heaps_[id]->live().count();
  heaps_[id]->clear();
  return blocks;
}

}  // namespace hitch::resolve
