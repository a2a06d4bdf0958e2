// The little the recorder needs of an ELF file: where its code lies and which build it is. Bytes
// are untrusted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hitch::resolve {

struct ElfSegment {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t offset;
  bool executable;
};

struct ElfSummary {
  std::string build_id;              // raw bytes, empty when it has none
  std::vector<ElfSegment> segments;  // PT_LOADs
};

// Reads program headers and notes. False when it is no 64-bit little-endian ELF file. Leaves `fd`
// open.
bool read_elf(int fd, ElfSummary& summary);

}  // namespace hitch::resolve
