#include "viewer/symbolise/dwarf_index.h"

#include <dwarf.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace hitch::symbolise {
namespace {

// Damaged debug information may nest without end.
constexpr int kMaxDepth = 256;

template <class F>
void for_each_range(Dwarf_Die* die, F&& f) {
  Dwarf_Addr base = 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
    // Functions the linker dropped keep ranges at (or just above) address 0.
    if (start > 1 && end > start) f(start, end);
  }
}

const char* linkage_name(Dwarf_Die* die) {
  for (const unsigned kind : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}}) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, kind, &attribute) == nullptr) continue;
    if (const char* text = dwarf_formstring(&attribute)) return text;
  }
  return nullptr;
}

// The declaration inside its class or namespace, of which `die` is the code.
Dwarf_Die declaration_of(Dwarf_Die die) {
  for (const unsigned kind : {unsigned{DW_AT_abstract_origin}, unsigned{DW_AT_specification}}) {
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    if (dwarf_attr(&die, kind, &attribute) != nullptr &&
        dwarf_formref_die(&attribute, &other) != nullptr)
      die = other;
  }
  return die;
}

bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type;
}

std::string scope_name(Dwarf_Die* scope) {
  const char* name = dwarf_diename(scope);
  if (name != nullptr) return name;
  return dwarf_tag(scope) == DW_TAG_namespace ? "(anonymous namespace)" : "(unnamed)";
}

unsigned number_of(Dwarf_Die* die, unsigned kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, kind, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
    return 0;
  return static_cast<unsigned>(value);
}

}  // namespace

struct DwarfIndex::Unit {
  struct Function {
    std::uint64_t start;
    std::uint64_t end;
    Dwarf_Die die;
  };

  Dwarf_Die die{};    // has the ranges and the lines
  Dwarf_Die split{};  // has the functions: the same, or the unit of a .dwo file
  bool listed = false;
  std::vector<Function> functions;  // by start, then longest first
  // Compilers write no linkage name for what is private to a file. Then the names of namespaces and
  // classes around a declaration count; they are collected once, at the first such function.
  bool scoped = false;
  std::vector<std::string> scopes;                          // "engine::Scene::"
  std::unordered_map<Dwarf_Off, std::size_t> declarations;  // position in scopes

  std::string name_of(Dwarf_Die* code) {
    if (const char* text = linkage_name(code)) return text;
    const char* own = dwarf_diename(code);
    if (own == nullptr) return "";
    if (!scoped) {
      scoped = true;
      collect_scopes(split, "", 0);
    }
    Dwarf_Die declaration = declaration_of(*code);
    const auto found = declarations.find(dwarf_dieoffset(&declaration));
    return found == declarations.end() ? own : scopes[found->second] + own;
  }

  void collect_scopes(Dwarf_Die& parent, const std::string& prefix, int depth) {
    Dwarf_Die child;
    if (depth > kMaxDepth || dwarf_child(&parent, &child) != 0) return;
    const std::size_t own_scope = scopes.size();
    if (!prefix.empty()) scopes.push_back(prefix);
    do {
      const int tag = dwarf_tag(&child);
      if (is_scope(tag)) {
        collect_scopes(child, prefix + scope_name(&child) + "::", depth + 1);
      } else if (tag == DW_TAG_subprogram && !prefix.empty()) {
        declarations.emplace(dwarf_dieoffset(&child), own_scope);
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  void list() {
    if (listed) return;
    listed = true;
    list_children(split, 0);
    std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
  }

  void list_children(Dwarf_Die& parent, int depth) {
    Dwarf_Die child;
    if (depth > kMaxDepth || dwarf_child(&parent, &child) != 0) return;
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram) {
        for_each_range(&child, [&](std::uint64_t start, std::uint64_t end) {
          functions.push_back({start, end, child});
        });
      }
      if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || is_scope(tag))
        list_children(child, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  Function* function_at(std::uint64_t address) {
    list();
    auto after = std::upper_bound(
        functions.begin(), functions.end(), address,
        [](std::uint64_t value, const Function& function) { return value < function.start; });
    // Nested functions overlap their parent; a few steps back reach it.
    for (int steps = 0; after != functions.begin() && steps < 16; ++steps) {
      --after;
      if (address < after->end) return &*after;
    }
    return nullptr;
  }

  // Inlined calls around the address, outermost first.
  static void inlined_calls(Dwarf_Die& parent, std::uint64_t address, int depth,
                            std::vector<Dwarf_Die>& calls) {
    Dwarf_Die child;
    if (depth > kMaxDepth || dwarf_child(&parent, &child) != 0) return;
    do {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
      if (dwarf_haspc(&child, address) != 1) continue;
      if (tag == DW_TAG_inlined_subroutine) calls.push_back(child);
      inlined_calls(child, address, depth + 1, calls);
      return;
    } while (dwarf_siblingof(&child, &child) == 0);
  }
};

DwarfIndex::DwarfIndex(Dwarf* dwarf, std::uint64_t bias) : bias_(bias) {
  if (dwarf == nullptr) return;
  Dwarf_CU* cursor = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf, cursor, &cursor, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    auto unit = std::make_unique<Unit>();
    unit->die = die;
    unit->split = type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid ? split : die;
    for_each_range(&die, [&](std::uint64_t start, std::uint64_t end) {
      ranges_.push_back({start, end, unit.get()});
    });
    units_.push_back(std::move(unit));
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
}

DwarfIndex::~DwarfIndex() = default;

DwarfIndex::Unit* DwarfIndex::unit_at(std::uint64_t address) const {
  auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uint64_t value, const Range& range) { return value < range.start; });
  for (int steps = 0; after != ranges_.begin() && steps < 4; ++steps) {
    --after;
    if (address < after->end) return after->unit;
  }
  return nullptr;
}

bool DwarfIndex::find(std::uint64_t address, DwarfAnswer& answer) {
  const std::uint64_t in_file = address - bias_;
  Unit* unit = unit_at(in_file);
  if (unit == nullptr) return false;

  DwarfEntry position;
  if (Dwarf_Line* row = dwarf_getsrc_die(&unit->die, in_file)) {
    int line = 0;
    if (const char* file = dwarf_linesrc(row, nullptr, nullptr)) position.file = file;
    if (dwarf_lineno(row, &line) == 0 && line > 0) position.line = static_cast<unsigned>(line);
  }

  Unit::Function* function = unit->function_at(in_file);
  if (function == nullptr) {
    answer.function = position;
    return position.line != 0;
  }
  std::vector<Dwarf_Die> calls;
  Unit::inlined_calls(function->die, in_file, 0, calls);
  Dwarf_Files* files = nullptr;
  if (!calls.empty()) dwarf_getsrcfiles(&unit->split, &files, nullptr);
  // Each inlined function executes where the next inner one was called; the innermost, where the
  // line table says.
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    position.name = unit->name_of(&*call);
    answer.inlined.push_back(position);
    const char* file = files == nullptr ? nullptr
                                        : dwarf_filesrc(files, number_of(&*call, DW_AT_call_file),
                                                        nullptr, nullptr);
    position.file = file == nullptr ? "" : file;
    position.line = number_of(&*call, DW_AT_call_line);
  }
  position.name = unit->name_of(&function->die);
  answer.function = position;
  answer.start = function->start + bias_;
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(&function->die, &entry) == 0 && entry != 0) answer.start = entry + bias_;
  return true;
}

}  // namespace hitch::symbolise
