// An ELF file on this machine and what identifies it.
#pragma once
#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hitch::symbolise {

// Owns descriptor and handle; not open is a valid state.
class ElfFile {
 public:
  ElfFile() = default;
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;

  // False: no such file, not readable, or not ELF.
  bool is_open() const { return elf_ != nullptr; }
  const std::string& path() const { return path_; }

  // Raw bytes; empty when it has none.
  std::string build_id() const;
  // Executable PT_LOADs as triples: address, bytes in memory, file offset.
  std::vector<std::uint64_t> executable_segments() const;
  // A section's bytes and address. Empty when there is none or it has no bytes in this file. Valid
  // while this object lives.
  std::string_view section(const char* name, std::uint64_t* address) const;

  // What .gnu_debuglink says; empty name: nothing.
  struct DebugLink {
    std::string name;
    std::uint32_t crc = 0;
  };
  DebugLink debug_link() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  Elf* elf_ = nullptr;
};

// Lower-case hexadecimal, as in .build-id folders.
std::string to_hex(std::string_view bytes);

// The checksum of .gnu_debuglink, of a whole file. False when it cannot be read.
bool file_crc32(const std::string& path, std::uint32_t& crc);

}  // namespace hitch::symbolise
