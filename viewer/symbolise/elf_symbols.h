// Function symbols of one module, from wherever libdwfl finds them: .symtab of the file or of its
// split debug information, the compressed .gnu_debugdata, else .dynsym.
#pragma once
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace hitch::symbolise {

struct ElfSymbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;     // 0: the symbol does not say
  const char* name = nullptr;  // owned by the Dwfl_Module
  std::uint8_t rank = 0;       // among symbols of one address the lowest is shown
  bool exported = false;
};

class ElfSymbols {
 public:
  ElfSymbols() = default;
  explicit ElfSymbols(Dwfl_Module* module);

  // The function that contains the address; null when none says so.
  const ElfSymbol* containing(std::uint64_t address) const;
  // The closest exported function at or below the address, if it is near enough to be a likely
  // entry point of the code there.
  const ElfSymbol* exported_below(std::uint64_t address) const;
  std::size_t size() const { return symbols_.size(); }

 private:
  std::vector<ElfSymbol> symbols_;  // by address, one for each
  // Largest end of symbols_[0..i]: a search backwards may stop where this is not past the address.
  std::vector<std::uint64_t> furthest_end_;
};

}  // namespace hitch::symbolise
