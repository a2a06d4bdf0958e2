// Names for the addresses of a recorded process. Works from the trace's module list and the files
// that are on this machine now; never opens a file of which the build-id differs from the recorded
// one without saying so.
//
// What a name looks like, best first:
//   Scene::spawn_particles        from DWARF or an ELF symbol, demangled and shortened
//   libfoo.so!fn@0x12340          no name, but .eh_frame says where the function starts: stable by
//   build-id libfoo.so+0x12345             the file is missing, changed, or says nothing about this
//   address 0x7f0012345678                in no module
//
// Chosen by the build: symboliser_elf.cpp (elfutils) or symboliser_none.cpp (module and offset
// only). Not thread-safe. Files are opened at the first address asked for in their module; what is
// kept is bounded (kMaxOpenModules files, kMaxCachedSymbols answers per module).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "viewer/model/module.h"

namespace hitch::symbolise {

constexpr std::size_t kMaxOpenModules = 128;
constexpr std::size_t kMaxCachedSymbols = 1 << 16;

struct Settings {
  // Files or directories searched for symbols before the usual places, matched by build-id.
  // A directory may hold a .build-id tree or plain ELF files at any depth.
  std::vector<std::string> symbols;
  // Ask the servers in DEBUGINFOD_URLS for what is not on this machine. May take minutes.
  bool debuginfod = false;
};

enum class Quality : std::uint8_t {
  kAddress,  // "0x7f0012345678"
  kOffset,   // "module+0x123"
  kStart,    // "module!fn@0x120"
  kSymbol,   // ELF symbol
  kDwarf,    // debug information: usually with file and line
};

struct SourceEntry {
  std::string function;  // short form
  std::string file;      // as the compiler wrote it; empty: unknown
  unsigned line = 0;     // 0: unknown
};

struct Symbol {
  Quality quality = Quality::kAddress;
  std::string function;  // short form, never empty
  std::string full;      // complete demangled name with parameters; empty when there is no name
  std::string near;      // quality kStart: closest exported function below, a hint only; or empty
  std::string module;    // file name without folders; empty: in no module
  std::uint64_t start = 0;  // address in the file of the function's first instruction; 0: unknown
  std::string file;         // of the line in `function` itself, not in what was inlined into it
  unsigned line = 0;
  // Functions inlined at this address, innermost first, each with the line executing in it.
  std::vector<SourceEntry> inlined;
};

class Symboliser {
 public:
  // Index of an added module, dense from 0.
  using Module = std::size_t;
  static constexpr Module kNoModule = ~Module{0};

  explicit Symboliser(Settings settings);
  ~Symboliser();
  Symboliser(const Symboliser&) = delete;
  Symboliser& operator=(const Symboliser&) = delete;

  // Opens nothing yet.
  Module add_module(const model::Module& module);

  // The function that made a call: looks at the instruction before the return address. `address` is
  // the recorded one, bias still in.
  Symbol return_address(Module module, std::uint64_t address);
  // The function an instruction belongs to.
  Symbol instruction(Module module, std::uint64_t address);

  // What the reader of a report should know, one sentence each, in order of discovery: modules that
  // changed since the recording, debuginfod that was asked for but is not there. Grows with
  // look-ups.
  const std::vector<std::string>& notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hitch::symbolise
