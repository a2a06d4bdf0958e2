// An executable or library as it was mapped into the game.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hitch::model {

// An executable PT_LOAD of the file.
struct Segment {
  std::uint64_t address = 0;  // virtual address in the file, before the bias
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
};

struct Module {
  std::string path;      // as the game's process saw it
  std::string build_id;  // raw bytes; empty when it has none
  std::uint64_t bias = 0;
  std::uint64_t start = 0;  // mapped addresses [start, end)
  std::uint64_t end = 0;
  std::vector<Segment> segments;

  // Address inside the file of an address in the game's process.
  std::uint64_t file_address(std::uint64_t address_in_process) const {
    return address_in_process - bias;
  }
};

}  // namespace hitch::model
