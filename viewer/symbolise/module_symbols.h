// Everything one file says about its addresses, opened together and closed together.
#pragma once
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "viewer/symbolise/dwarf_index.h"
#include "viewer/symbolise/elf_file.h"
#include "viewer/symbolise/elf_symbols.h"
#include "viewer/symbolise/fde_index.h"
#include "viewer/symbolise/symboliser.h"

namespace hitch::symbolise {

class ModuleSymbols {
 public:
  // Finds the split-off debug information of a file; empty: none.
  using FindDebugFile = std::function<std::string(const ElfFile&)>;

  ModuleSymbols(ElfFile file, FindDebugFile find_debug_file);
  ~ModuleSymbols();
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  // Fills what is known of the function at `address` (in the file) into `symbol`, which already has
  // its module's name. False: nothing.
  bool describe(std::uint64_t address, Symbol& symbol);

 private:
  static int find_debuginfo(Dwfl_Module* module, void** self, const char* name, Dwarf_Addr base,
                            const char* file_name, const char* link, GElf_Word crc, char** found);
  int open_debug_file(Dwfl_Module* module, const char* link, char** found) const;
  void take_names(std::uint64_t address, Symbol& symbol);

  ElfFile file_;
  FindDebugFile find_debug_file_;
  Dwfl* dwfl_ = nullptr;
  ElfSymbols symbols_;
  FdeIndex functions_;
  std::unique_ptr<DwarfIndex> dwarf_;
};

}  // namespace hitch::symbolise
