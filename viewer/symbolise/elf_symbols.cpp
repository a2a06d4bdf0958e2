#include "viewer/symbolise/elf_symbols.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hitch::symbolise {
namespace {

// Hand-written functions carry no size; longer ones are hardly hand-written.
constexpr std::uint64_t kMaxUnsized = 4096;
// A static function lies in the file near the exported ones of its source file.
constexpr std::uint64_t kMaxHintDistance = 32 * 1024;

bool is_function(const GElf_Sym& symbol) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
  return type == STT_NOTYPE && GELF_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_size > 0;
}

// Start-up code every file has; as a hint it would name nothing.
bool is_boilerplate(std::string_view name) {
  return name == "_init" || name == "_fini" || name == "_start" || name == "main" ||
         name.starts_with("__libc_") || name.starts_with("_dl_");
}

std::uint64_t end_of(const ElfSymbol& symbol) {
  return symbol.address + (symbol.bytes != 0 ? symbol.bytes : kMaxUnsized);
}

}  // namespace

ElfSymbols::ElfSymbols(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym raw{};
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name =
        dwfl_module_getsym_info(module, i, &raw, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || !is_function(raw)) continue;
    const int binding = GELF_ST_BIND(raw.st_info);
    ElfSymbol symbol;
    symbol.address = address;
    symbol.bytes = raw.st_size;
    symbol.name = name;
    symbol.rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
    symbol.exported = binding != STB_LOCAL && GELF_ST_VISIBILITY(raw.st_other) == STV_DEFAULT;
    symbols_.push_back(symbol);
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const ElfSymbol& a, const ElfSymbol& b) {
    if (a.address != b.address) return a.address < b.address;
    if (a.rank != b.rank) return a.rank < b.rank;
    if ((a.bytes == 0) != (b.bytes == 0)) return a.bytes != 0;
    const std::size_t a_length = std::strlen(a.name);
    const std::size_t b_length = std::strlen(b.name);
    return a_length != b_length ? a_length < b_length : std::strcmp(a.name, b.name) < 0;
  });
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(),
                  [](const ElfSymbol& a, const ElfSymbol& b) { return a.address == b.address; }),
      symbols_.end());
  furthest_end_.reserve(symbols_.size());
  std::uint64_t furthest = 0;
  for (const ElfSymbol& symbol : symbols_)
    furthest_end_.push_back(furthest = std::max(furthest, end_of(symbol)));
}

const ElfSymbol* ElfSymbols::containing(std::uint64_t address) const {
  auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), address,
      [](std::uint64_t value, const ElfSymbol& symbol) { return value < symbol.address; });
  bool closest = true;
  while (after != symbols_.begin()) {
    const ElfSymbol& symbol = *--after;
    if (furthest_end_[static_cast<std::size_t>(after - symbols_.begin())] <= address) break;
    // An unsized symbol ends at the next one.
    if (address < end_of(symbol) && (symbol.bytes != 0 || closest)) return &symbol;
    closest = false;
  }
  return nullptr;
}

const ElfSymbol* ElfSymbols::exported_below(std::uint64_t address) const {
  auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), address,
      [](std::uint64_t value, const ElfSymbol& symbol) { return value < symbol.address; });
  while (after != symbols_.begin()) {
    const ElfSymbol& symbol = *--after;
    if (address - symbol.address > kMaxHintDistance) return nullptr;
    if (symbol.exported) return is_boilerplate(symbol.name) ? nullptr : &symbol;
  }
  return nullptr;
}

}  // namespace hitch::symbolise
