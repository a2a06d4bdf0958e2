// The first bytes of ELF programs, made by hand.
#pragma once
#include <elf.h>

#include <cstring>
#include <string>

namespace hitch::app {

struct ElfBytes {
  unsigned char elf_class = ELFCLASS64;
  std::uint16_t machine = EM_X86_64;
  std::string interpreter;  // empty: static
};

inline std::string elf_bytes(const ElfBytes& wanted) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = wanted.elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = wanted.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = wanted.interpreter.empty() ? PT_LOAD : PT_INTERP;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = wanted.interpreter.size() + 1;
  std::string bytes(sizeof header + sizeof segment, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &segment, sizeof segment);
  return bytes + wanted.interpreter + '\0';
}

}  // namespace hitch::app
