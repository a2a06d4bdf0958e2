#include "recorder/resolve/elf_file.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hitch::resolve {

namespace {

constexpr std::size_t kMostHeaders = 256;
constexpr std::uint64_t kMostNoteBytes = 64 * 1024;

bool read_at(int fd, std::uint64_t offset, void* data, std::size_t bytes) {
  return offset <= INT64_MAX &&
         pread(fd, data, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

void find_build_id(int fd, const Elf64_Phdr& notes, ElfSummary& summary) {
  std::vector<char> bytes(std::min<std::uint64_t>(notes.p_filesz, kMostNoteBytes));
  if (!read_at(fd, notes.p_offset, bytes.data(), bytes.size())) return;
  const std::uint64_t align = notes.p_align == 8 ? 8 : 4;
  const auto padded = [align](std::uint64_t n) { return (n + align - 1) / align * align; };
  for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, bytes.data() + at, sizeof(note));
    const std::uint64_t name = at + sizeof(note);
    const std::uint64_t content = name + padded(note.n_namesz);
    const std::uint64_t end = content + padded(note.n_descsz);
    if (content + note.n_descsz > bytes.size()) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= 64 &&
        std::memcmp(bytes.data() + name, "GNU", 4) == 0) {
      summary.build_id.assign(bytes.data() + content, note.n_descsz);
      return;
    }
    at = end;
  }
}

}  // namespace

bool read_elf(int fd, ElfSummary& summary) {
  Elf64_Ehdr header;
  if (!read_at(fd, 0, &header, sizeof(header))) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  std::vector<Elf64_Phdr> headers(std::min<std::size_t>(header.e_phnum, kMostHeaders));
  if (!read_at(fd, header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) {
    return false;
  }
  for (const Elf64_Phdr& p : headers) {
    if (p.p_type == PT_LOAD) {
      summary.segments.push_back({p.p_vaddr, p.p_memsz, p.p_offset, (p.p_flags & PF_X) != 0});
    } else if (p.p_type == PT_NOTE && summary.build_id.empty()) {
      find_build_id(fd, p, summary);
    }
  }
  return true;
}

}  // namespace hitch::resolve
