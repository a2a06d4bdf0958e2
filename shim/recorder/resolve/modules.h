// Executables and libraries of the game: told by the shim, or found in /proc/<pid>/maps when an
// address belongs to none of those told.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "format/buffer_records.h"
#include "recorder/resolve/elf_file.h"
#include "recorder/resolve/process_files.h"
#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
  bool holds(std::uint64_t address) const { return address >= start && address < end; }
};

class Modules {
 public:
  Modules(RecordOut& out, const ProcessFiles& process) : out_(out), process_(process) {}

  // `words` is a whole kModule record.
  void loaded(const std::uint64_t* words, unsigned word_count);
  void unloaded(std::uint64_t bias, std::uint64_t key);

  // Where, since the last call, a module was loaded over the place of another one that is gone: the
  // same addresses mean other code now. A module that merely came back does not count.
  std::vector<AddressRange> take_reused();

  // Module id + 1, or 0.
  std::uint64_t find(std::uint64_t address) const;
  // Looks into /proc/<pid>/maps for modules that were never told. `now_ms` limits how often: twice
  // a second after the first eight times.
  void look_again(std::uint64_t key, std::uint64_t now_ms);

  // "libfoo.so+0x1234", or "0x7f..." outside of all modules.
  std::string describe(std::uint64_t address) const;
  // Build-id of the executable as hexadecimal digits; empty when unknown.
  std::string build_id_of(const std::string& path) const;

 private:
  struct Loaded {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t bias;
    std::uint64_t id;
    std::string path;
    std::string build_id;

    bool overlaps(const Loaded& other) const { return start < other.end && other.start < end; }
    // The same file at the same place, whatever name it was found under.
    bool same_as(const Loaded& other) const;
  };
  void retire(std::size_t index, std::uint64_t key);
  void add(Loaded module, std::uint64_t key, const ElfSummary& elf);
  const Loaded* at(std::uint64_t address) const;

  RecordOut& out_;
  const ProcessFiles& process_;
  std::vector<Loaded> loaded_;  // by start, never overlapping
  std::vector<Loaded> gone_;    // what lay last at an address that is free now
  std::vector<AddressRange> reused_;
  std::uint64_t next_id_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t last_look_ms_ = 0;
};

}  // namespace hitch::resolve
