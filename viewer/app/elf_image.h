// The parts of a 64-bit little-endian ELF file that decide how a program is loaded. Every access is
// checked: a file that lies gives fewer facts, nothing else.
#pragma once
#include <elf.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hitch::app {

class ElfImage {
 public:
  // `bytes` must outlive this object.
  explicit ElfImage(std::string_view bytes);

  // False: not a 64-bit little-endian ELF file.
  bool is_valid() const { return valid_; }
  std::uint16_t machine() const { return header_.e_machine; }
  // The loader's path; empty: static.
  std::string interpreter() const;
  // DT_NEEDED.
  std::vector<std::string> needed() const;
  // Names of functions and objects defined in .dynsym and .symtab.
  void for_each_defined(const std::function<void(std::string_view name)>& f) const;
  bool has_section_bytes(std::string_view section, std::string_view pattern) const;

 private:
  template <class T>
  bool read(std::uint64_t offset, T& value) const;
  std::string_view slice(std::uint64_t offset, std::uint64_t size) const;
  static std::string_view text_at(std::string_view table, std::uint64_t offset);
  std::uint64_t file_offset(std::uint64_t address) const;

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  bool valid_ = false;
};

}  // namespace hitch::app
