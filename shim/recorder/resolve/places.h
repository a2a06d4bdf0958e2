// Instructions of the game, by dense id: the code that touched memory, or that was running.
#pragma once
#include <cstdint>
#include <vector>

#include "recorder/resolve/flat_index.h"
#include "recorder/resolve/modules.h"
#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

class Places {
 public:
  // More than any game has: a garbled source must not eat the recorder's memory.
  static constexpr std::uint32_t kMost = 1u << 20;

  Places(RecordOut& out, Modules& modules) : out_(out), modules_(modules) {}

  // Place id + 1, written when it is new; 0 beyond kMost and for address 0.
  std::uint64_t id_plus_one(std::uint64_t address, std::uint64_t key, std::uint64_t now_ms) {
    if (address == 0) return 0;
    const std::uint32_t fresh = count_;
    if (fresh >= kMost) {
      const std::uint32_t known = index_.find(address);
      return known != FlatIndex::kNone ? known + std::uint64_t{1} : 0;
    }
    const std::uint32_t id = index_.find_or_add(address, fresh);
    if (id == fresh) {
      ++count_;
      if (modules_.find(address) == 0) modules_.look_again(key, now_ms);
      out_.put(format::trace::Place{id, address, modules_.find(address)});
    }
    return id + std::uint64_t{1};
  }
  // Addresses may mean other code from now on: they get new ids.
  void forget() { index_.clear(); }

 private:
  FlatIndex index_;
  std::uint32_t count_ = 0;
  RecordOut& out_;
  Modules& modules_;
};

}  // namespace hitch::resolve
