#include "viewer/symbolise/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <utility>

namespace hitch::symbolise {

ElfFile::ElfFile(const std::string& path) : path_(path) {
  static const bool kReady = elf_version(EV_CURRENT) != EV_NONE;
  // O_NONBLOCK: a recorded path may be a pipe by now.
  descriptor_ = kReady ? open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  if (elf_ != nullptr && elf_kind(elf_) != ELF_K_ELF) {
    elf_end(elf_);
    elf_ = nullptr;
  }
}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
  if (descriptor_ >= 0) close(descriptor_);
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      elf_(std::exchange(other.elf_, nullptr)) {}

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(elf_, other.elf_);
  return *this;
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  if (elf_ == nullptr) return {};
  const ssize_t size = dwelf_elf_gnu_build_id(elf_, &bytes);
  if (size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::vector<std::uint64_t> ElfFile::executable_segments() const {
  std::vector<std::uint64_t> result;
  std::size_t count = 0;
  if (elf_ == nullptr || elf_getphdrnum(elf_, &count) != 0) return result;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header{};
    if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    result.insert(result.end(), {header.p_vaddr, header.p_memsz, header.p_offset});
  }
  return result;
}

std::string_view ElfFile::section(const char* name, std::uint64_t* address) const {
  std::size_t names = 0;
  if (elf_ == nullptr || elf_getshdrstrndx(elf_, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* own_name = elf_strptr(elf_, names, header.sh_name);
    if (own_name == nullptr || std::strcmp(own_name, name) != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    if (address != nullptr) *address = header.sh_addr;
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

ElfFile::DebugLink ElfFile::debug_link() const {
  GElf_Word crc = 0;
  const char* name = elf_ == nullptr ? nullptr : dwelf_elf_gnu_debuglink(elf_, &crc);
  if (name == nullptr) return {};
  return {name, crc};
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool file_crc32(const std::string& path, std::uint32_t& crc) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320 : 0);
      table[i] = value;
    }
    return table;
  }();
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::uint32_t value = 0xffffffff;
  std::vector<char> buffer(1 << 16);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    for (std::streamsize i = 0; i < in.gcount(); ++i) {
      const auto byte = static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)]);
      value = kTable[(value ^ byte) & 0xff] ^ (value >> 8);
    }
  }
  crc = ~value;
  return true;
}

}  // namespace hitch::symbolise
