#include "libc/elf_lookup.h"

#include <elf.h>

#include "base/text.h"

namespace hitch::libc {
namespace {

// The tables of a module's dynamic section that a lookup needs.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
  const ElfW(Half) * versions = nullptr;
};

// glibc relocates d_ptr in place on x86-64, except in objects it maps read-only (the vDSO).
template <class T>
const T* table(const link_map* module, const ElfW(Dyn) & entry) {
  std::uintptr_t address = entry.d_un.d_ptr;
  if (address < module->l_addr) address += module->l_addr;
  return reinterpret_cast<const T*>(address);
}

Tables read_tables(const link_map* module) {
  Tables tables;
  if (module->l_ld == nullptr) return tables;
  for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = table<ElfW(Sym)>(module, *entry);
        break;
      case DT_STRTAB:
        tables.strings = table<char>(module, *entry);
        break;
      case DT_GNU_HASH:
        tables.gnu_hash = table<std::uint32_t>(module, *entry);
        break;
      case DT_HASH:
        tables.sysv_hash = table<std::uint32_t>(module, *entry);
        break;
      case DT_VERSYM:
        tables.versions = table<ElfW(Half)>(module, *entry);
        break;
      default:
        break;
    }
  }
  return tables;
}

bool has_elf_magic(std::uintptr_t address) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(address);
  return bytes[0] == ELFMAG0 && bytes[1] == ELFMAG1 && bytes[2] == ELFMAG2 && bytes[3] == ELFMAG3;
}

constexpr ElfW(Half) kHiddenVersion = 0x8000;

// Collects the best definition among symbols of one name: the default version before a hidden one.
class Candidate {
 public:
  Candidate(const Tables& tables, const char* name) : tables_(tables), name_(name) {}
  // True when nothing better can follow.
  bool offer(std::uint32_t index) {
    const ElfW(Sym)& symbol = tables_.symbols[index];
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
    if (type != STT_FUNC && type != STT_NOTYPE) return false;
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return false;
    if (!base::same_text(tables_.strings + symbol.st_name, name_)) return false;
    const bool hidden =
        tables_.versions != nullptr && (tables_.versions[index] & kHiddenVersion) != 0;
    if (best_ == nullptr || !hidden) best_ = &symbol;
    return !hidden;
  }
  const ElfW(Sym) * best() const { return best_; }

 private:
  const Tables& tables_;
  const char* name_;
  const ElfW(Sym) * best_ = nullptr;
};

// "GNU hash ELF sections" (A. Roldan, R. McGrath): bloom filter, buckets, chains whose last hash is
// odd.
void search_gnu_hash(const Tables& tables, const char* name, Candidate& candidate) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t bucket_count = tables.gnu_hash[0];
  const std::uint32_t first_symbol = tables.gnu_hash[1];
  const std::uint32_t bloom_words = tables.gnu_hash[2];
  if (bucket_count == 0) return;
  const auto* buckets = tables.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const auto* chains = buckets + bucket_count;
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return;
  for (;; ++index) {
    const std::uint32_t chained = chains[index - first_symbol];
    if ((chained | 1) == (hash | 1) && candidate.offer(index)) return;
    if ((chained & 1) != 0) return;
  }
}

void search_sysv_hash(const Tables& tables, const char* name, Candidate& candidate) {
  std::uint32_t hash = 0;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    const std::uint32_t top = hash & 0xf0000000u;
    hash = (hash ^ (top >> 24)) & ~top;
  }
  const std::uint32_t bucket_count = tables.sysv_hash[0];
  if (bucket_count == 0) return;
  const auto* buckets = tables.sysv_hash + 2;
  const auto* chains = buckets + bucket_count;
  for (std::uint32_t index = buckets[hash % bucket_count]; index != STN_UNDEF;
       index = chains[index]) {
    if (candidate.offer(index)) return;
  }
}

}  // namespace

const link_map* first_module() { return _r_debug.r_map; }

const link_map* own_module() {
  for (const link_map* module = first_module(); module != nullptr; module = module->l_next) {
    if (module->l_ld == _DYNAMIC) return module;
  }
  return nullptr;
}

void* find_in_module(const link_map* module, const char* name) {
  const Tables tables = read_tables(module);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  Candidate candidate(tables, name);
  if (tables.gnu_hash != nullptr) {
    search_gnu_hash(tables, name, candidate);
  } else if (tables.sysv_hash != nullptr) {
    search_sysv_hash(tables, name, candidate);
  }
  if (candidate.best() == nullptr) return nullptr;
  return reinterpret_cast<void*>(module->l_addr + candidate.best()->st_value);
}

void* find_next(const char* name) {
  const link_map* own = own_module();
  if (own == nullptr) return nullptr;
  for (const link_map* module = own->l_next; module != nullptr; module = module->l_next) {
    if (void* found = find_in_module(module, name)) return found;
  }
  return nullptr;
}

void* find_default(const char* name, const link_map** definer) {
  for (const link_map* module = first_module(); module != nullptr; module = module->l_next) {
    if (void* found = find_in_module(module, name)) {
      if (definer != nullptr) *definer = module;
      return found;
    }
  }
  return nullptr;
}

bool module_range(const link_map* module, std::uintptr_t& start, std::uintptr_t& end) {
  // The ELF header is the first thing mapped: for a shared object at l_addr. An executable that is
  // not position independent has l_addr 0; its header is found from the dynamic section's page
  // downwards.
  std::uintptr_t base = module->l_addr;
  if (base == 0) {
    base = reinterpret_cast<std::uintptr_t>(module->l_ld) & ~std::uintptr_t{4095};
    for (unsigned pages = 0; pages < 1u << 16; ++pages, base -= 4096) {
      if (has_elf_magic(base)) break;
    }
  }
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  if (!has_elf_magic(base)) return false;
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  start = ~std::uintptr_t{0};
  end = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    const std::uintptr_t from = module->l_addr + segments[i].p_vaddr;
    if (from < start) start = from;
    if (from + segments[i].p_memsz > end) end = from + segments[i].p_memsz;
  }
  return end > start;
}

const link_map* module_of(std::uintptr_t address) {
  for (const link_map* module = first_module(); module != nullptr; module = module->l_next) {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    // The executable's range is only read when no library claims the address: see module_range.
    if (module->l_addr != 0 && module_range(module, start, end) && address >= start &&
        address < end) {
      return module;
    }
  }
  return nullptr;
}

}  // namespace hitch::libc
