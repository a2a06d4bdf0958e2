// Heaps of the game's own, reported through hitch_heap_*. Their blocks lie inside blocks the
// allocator already handed out, so each heap has a map of its own and none of it counts again.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/resolve/block_ledger.h"
#include "recorder/resolve/record_out.h"
#include "recorder/resolve/texts.h"

namespace hitch::resolve {

class Heaps {
 public:
  static constexpr std::size_t kMost = 256;

  Heaps(RecordOut& out, Texts& texts, std::uint64_t window)
      : out_(out), texts_(texts), window_(window) {}

  void define(std::uint32_t game_id, std::uint32_t parent_plus_one, const std::string& name);
  // Dense id; a heap that was never defined (the record was lost) gets a made-up name.
  std::uint32_t id(std::uint32_t game_id);

  BlockLedger& ledger(std::uint32_t id) { return *heaps_[id]; }
  // Releases all blocks; returns how many there were.
  std::uint64_t reset(std::uint32_t id);

 private:
  std::uint32_t add(std::uint32_t game_id, std::uint32_t parent_plus_one, const std::string& name);

  RecordOut& out_;
  Texts& texts_;
  std::uint64_t window_;
  std::unordered_map<std::uint32_t, std::uint32_t> ids_;  // by the game's id
  std::vector<std::unique_ptr<BlockLedger>> heaps_;       // by dense id
};

}  // namespace hitch::resolve
