// Functions, inlined calls and lines of one module's debug information. Units are found by their
// address ranges (also where the compiler wrote no .debug_aranges), and a unit's functions are
// listed at the first question about it.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hitch::symbolise {

struct DwarfEntry {
  std::string name;  // mangled when the compiler wrote a linkage name; empty: unknown
  std::string file;  // of the line that is executing in this function
  unsigned line = 0;
};

struct DwarfAnswer {
  DwarfEntry function;
  std::uint64_t start = 0;          // of the function
  std::vector<DwarfEntry> inlined;  // innermost first
};

class DwarfIndex {
 public:
  // `bias` is added to the addresses in the debug information. `dwarf` may be null: nothing is
  // ever found. It must outlive this object.
  DwarfIndex(Dwarf* dwarf, std::uint64_t bias);
  ~DwarfIndex();
  DwarfIndex(const DwarfIndex&) = delete;
  DwarfIndex& operator=(const DwarfIndex&) = delete;

  // False: no unit knows the address. With lines alone (no functions) function.name is empty.
  bool find(std::uint64_t address, DwarfAnswer& answer);

 private:
  struct Unit;
  struct Range {
    std::uint64_t start;
    std::uint64_t end;
    Unit* unit;
  };
  Unit* unit_at(std::uint64_t address) const;

  std::uint64_t bias_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Range> ranges_;  // by start
};

}  // namespace hitch::symbolise
