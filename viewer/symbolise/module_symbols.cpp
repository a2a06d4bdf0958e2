#include "viewer/symbolise/module_symbols.h"

#include <fcntl.h>

#include <cstring>
#include <utility>

#include "viewer/symbolise/offset_name.h"
#include "viewer/symbolise/short_name.h"

namespace hitch::symbolise {
namespace {

std::string folder_of(const char* path) {
  const char* slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  return slash == nullptr ? std::string(".") : std::string(path, slash);
}

void set_name(Symbol& symbol, const std::string& mangled) {
  symbol.full = demangle(mangled);
  symbol.function = short_name(symbol.full);
}

}  // namespace

ModuleSymbols::ModuleSymbols(ElfFile file, FindDebugFile find_debug_file)
    : file_(std::move(file)), find_debug_file_(std::move(find_debug_file)) {
  std::uint64_t address = 0;
  const std::string_view eh_frame = file_.section(".eh_frame", &address);
  functions_ = FdeIndex(eh_frame, address);

  static const Dwfl_Callbacks kCallbacks = {nullptr, &ModuleSymbols::find_debuginfo,
                                            &dwfl_offline_section_address, nullptr};
  dwfl_ = dwfl_begin(&kCallbacks);
  if (dwfl_ == nullptr) return;
  dwfl_report_begin(dwfl_);
  Dwfl_Module* module =
      dwfl_report_elf(dwfl_, file_.path().c_str(), file_.path().c_str(), -1, 0, true);
  dwfl_report_end(dwfl_, nullptr, nullptr);
  if (module == nullptr) return;
  void** user = nullptr;
  dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (user != nullptr) *user = this;
  symbols_ = ElfSymbols(module);
  Dwarf_Addr bias = 0;
  Dwarf* dwarf = dwfl_module_getdwarf(module, &bias);
  dwarf_ = std::make_unique<DwarfIndex>(dwarf, bias);
}

ModuleSymbols::~ModuleSymbols() {
  dwarf_.reset();
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

int ModuleSymbols::find_debuginfo(Dwfl_Module* module, void** self, const char*, Dwarf_Addr,
                                  const char*, const char* link, GElf_Word, char** found) {
  if (self == nullptr || *self == nullptr) return -1;
  return static_cast<const ModuleSymbols*>(*self)->open_debug_file(module, link, found);
}

// libdwfl asks twice: for the debug information, and with the name of a dwz file that parts of it
// were moved to.
int ModuleSymbols::open_debug_file(Dwfl_Module* module, const char* link, char** found) const {
  const char* debug_file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &debug_file);
  std::string path;
  if (debug_file != nullptr && link != nullptr) {
    path = *link == '/' ? link : folder_of(debug_file) + '/' + link;
  } else {
    path = find_debug_file_(file_);
  }
  const int descriptor = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) *found = strdup(path.c_str());
  return descriptor;
}

void ModuleSymbols::take_names(std::uint64_t address, Symbol& symbol) {
  DwarfAnswer answer;
  if (dwarf_ == nullptr || !dwarf_->find(address, answer)) return;
  symbol.file = std::move(answer.function.file);
  symbol.line = answer.function.line;
  if (answer.function.name.empty()) return;
  symbol.quality = Quality::kDwarf;
  symbol.start = answer.start;
  set_name(symbol, answer.function.name);
  for (DwarfEntry& entry : answer.inlined) {
    symbol.inlined.push_back({short_name(demangle(entry.name)), std::move(entry.file), entry.line});
  }
}

bool ModuleSymbols::describe(std::uint64_t address, Symbol& symbol) {
  take_names(address, symbol);
  if (symbol.quality == Quality::kDwarf) return true;
  if (const ElfSymbol* elf = symbols_.containing(address)) {
    symbol.quality = symbol.line != 0 ? Quality::kDwarf : Quality::kSymbol;
    symbol.start = elf->address;
    set_name(symbol, elf->name);
    return true;
  }
  const std::optional<FunctionRange> range = functions_.find(address);
  if (!range) return false;
  symbol.quality = Quality::kStart;
  symbol.start = range->start;
  symbol.function = symbol.module + "!fn@" + to_hex_number(range->start);
  if (const ElfSymbol* below = symbols_.exported_below(address))
    symbol.near = short_name(demangle(below->name));
  return true;
}

}  // namespace hitch::symbolise
