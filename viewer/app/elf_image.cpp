#include "viewer/app/elf_image.h"

#include <cstring>

namespace hitch::app {

template <class T>
bool ElfImage::read(std::uint64_t offset, T& value) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return true;
}

std::string_view ElfImage::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
  return bytes_.substr(offset, size);
}

std::string_view ElfImage::text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::size_t end = table.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : table.substr(offset, end - offset);
}

ElfImage::ElfImage(std::string_view bytes) : bytes_(bytes) {
  if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
      header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
    return;
  valid_ = true;
  if (header_.e_phentsize == sizeof(Elf64_Phdr)) {
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!read(header_.e_phoff + i * sizeof segment, segment)) break;
      segments_.push_back(segment);
    }
  }
  if (header_.e_shoff != 0 && header_.e_shentsize == sizeof(Elf64_Shdr)) {
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!read(header_.e_shoff + i * sizeof section, section)) break;
      sections_.push_back(section);
    }
  }
}

std::string ElfImage::interpreter() const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_INTERP) continue;
    const std::string_view text = slice(segment.p_offset, segment.p_filesz);
    return std::string(text.substr(0, text.find('\0')));
  }
  return {};
}

std::uint64_t ElfImage::file_offset(std::uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  return ~std::uint64_t{0};
}

std::vector<std::string> ElfImage::needed() const {
  std::vector<std::string> names;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<std::uint64_t> offsets;
    std::uint64_t table = 0;
    std::uint64_t table_size = 0;
    Elf64_Dyn entry;
    for (std::uint64_t at = 0; at + sizeof entry <= segment.p_filesz; at += sizeof entry) {
      if (!read(segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) offsets.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
    }
    const std::string_view texts = slice(file_offset(table), table_size);
    for (const std::uint64_t offset : offsets) names.emplace_back(text_at(texts, offset));
  }
  return names;
}

void ElfImage::for_each_defined(const std::function<void(std::string_view name)>& f) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= sections_.size()) continue;
    const Elf64_Shdr& names = sections_[section.sh_link];
    const std::string_view texts = slice(names.sh_offset, names.sh_size);
    const std::string_view table = slice(section.sh_offset, section.sh_size);
    Elf64_Sym symbol;
    for (std::size_t at = 0; at + sizeof symbol <= table.size(); at += sizeof symbol) {
      std::memcpy(&symbol, table.data() + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_FILE) continue;
      const std::string_view name = text_at(texts, symbol.st_name);
      if (!name.empty()) f(name);
    }
  }
}

bool ElfImage::has_section_bytes(std::string_view section, std::string_view pattern) const {
  if (header_.e_shstrndx >= sections_.size()) return false;
  const Elf64_Shdr& names = sections_[header_.e_shstrndx];
  const std::string_view texts = slice(names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& one : sections_) {
    if (one.sh_type == SHT_NOBITS || text_at(texts, one.sh_name) != section) continue;
    const std::string_view bytes = slice(one.sh_offset, one.sh_size);
    if (bytes.find(pattern) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace hitch::app
