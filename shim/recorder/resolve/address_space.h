// What lies at an address of the game, from /proc/<pid>/maps. A look takes the kernel's hold of the
// game's mappings for a moment, so it is taken only for an address that is not known yet, and not
// more often than kLookEveryMs.
#pragma once
#include <cstdint>
#include <vector>

#include "recorder/resolve/process_files.h"

namespace hitch::resolve {

class AddressSpace {
 public:
  explicit AddressSpace(const ProcessFiles& files) : files_(files) {}

  // Null when nothing that is known lies there. Valid until the next call.
  const Mapping* at(std::uint64_t address, std::uint64_t now_ms);

 private:
  static constexpr std::uint64_t kLookEveryMs = 20;
  static constexpr std::uint64_t kOldMs = 2000;  // what is known may have been replaced

  const Mapping* known(std::uint64_t address) const;

  const ProcessFiles& files_;
  std::vector<Mapping> mappings_;
  std::uint64_t looked_ms_ = 0;
  bool looked_ = false;
};

}  // namespace hitch::resolve
