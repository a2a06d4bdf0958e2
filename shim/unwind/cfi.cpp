#include "unwind/cfi.h"

#include <cstddef>
#include <cstring>

#include "unwind/cfi_rows.h"

namespace hitch::unwind {
namespace {

// Length field of a CIE or FDE: 4 bytes, or 0xffffffff and 8.
Reader take_entry(Reader& in) {
  std::uint64_t length = in.take<std::uint32_t>();
  if (length == 0xffffffffu) length = in.take<std::uint64_t>();
  return in.part(length);
}

bool read_cie(const ModuleImage& module, std::uintptr_t address, Cie& cie) {
  if (address < module.start || address >= module.end) return false;
  Reader all(address, module.end);
  Reader in = take_entry(all);
  if (in.take<std::uint32_t>() != 0) return false;
  const auto version = in.take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const std::uintptr_t augmentation = in.at();
  while (in.ok() && in.take<char>() != '\0') {
  }
  if (!in.ok()) return false;
  const char* letters = reinterpret_cast<const char*>(augmentation);
  cie.code_align = in.uleb();
  cie.data_align = in.sleb();
  cie.return_register = version == 1 ? in.take<std::uint8_t>() : in.uleb();
  if (*letters == 'z') {
    cie.has_augmentation = true;
    Reader data = in.part(in.uleb());
    for (++letters; *letters != '\0'; ++letters) {
      switch (*letters) {
        case 'R':
          cie.pointer_encoding = data.take<std::uint8_t>();
          break;
        case 'L':
          data.take<std::uint8_t>();
          break;
        case 'P': {
          const auto encoding = data.take<std::uint8_t>();
          if (encoding != kOmit) take_encoded(data, encoding & 0x0f, 0);
          break;
        }
        case 'S':
          cie.signal_frame = true;
          break;
        case 'B':
          break;
        default:
          return false;
      }
    }
    if (!data.ok()) return false;
  } else if (*letters != '\0') {
    return false;
  }
  cie.instructions = {in.at(), in.end()};
  return in.ok();
}

struct Fde {
  Cie cie;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  Bytes instructions;
};

bool read_fde(const ModuleImage& module, std::uintptr_t address, Fde& fde) {
  if (address < module.start || address >= module.end) return false;
  Reader all(address, module.end);
  Reader in = take_entry(all);
  const std::uintptr_t here = in.at();
  const auto distance = in.take<std::uint32_t>();
  if (distance == 0 || !read_cie(module, here - distance, fde.cie)) return false;
  fde.start = take_encoded(in, fde.cie.pointer_encoding, 0);
  fde.end = fde.start + take_encoded(in, fde.cie.pointer_encoding & 0x0f, 0);
  if (fde.cie.has_augmentation) in.skip(in.uleb());
  fde.instructions = {in.at(), in.end()};
  return in.ok();
}

// Binary search in .eh_frame_hdr's table of (start of function, its FDE). 0: not there.
std::uintptr_t find_fde(const ModuleImage& module, std::uintptr_t pc) {
  const std::uintptr_t hdr = module.eh_frame_hdr;
  if (hdr < module.start || hdr >= module.end) return 0;
  Reader in(hdr, module.end);
  const auto version = in.take<std::uint8_t>();
  const auto frame_encoding = in.take<std::uint8_t>();
  const auto count_encoding = in.take<std::uint8_t>();
  const auto table_encoding = in.take<std::uint8_t>();
  constexpr std::uint8_t kRelativeToHeader32 = 0x3b;
  if (version != 1 || count_encoding == kOmit || table_encoding != kRelativeToHeader32) return 0;
  if (frame_encoding != kOmit) take_encoded(in, frame_encoding, hdr);
  const std::uint64_t count = take_encoded(in, count_encoding, hdr);
  if (!in.ok() || count == 0 || count > (module.end - in.at()) / 8) return 0;
  struct Entry {
    std::int32_t start;
    std::int32_t fde;
  };
  const auto* rows = reinterpret_cast<const char*>(in.at());
  const auto row = [rows](std::uint64_t i) {
    Entry value;
    std::memcpy(&value, rows + i * sizeof value, sizeof value);
    return value;
  };
  const auto wanted = static_cast<std::intptr_t>(pc - hdr);
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (row(middle).start <= wanted ? low : high) = middle;
  }
  if (row(low).start > wanted) return 0;
  return hdr + static_cast<std::uintptr_t>(std::intptr_t{row(low).fde});
}

// An expression's result in symbols: a constant, a register plus a constant, or what lies there.
struct Symbol {
  enum class Kind : std::uint8_t { kConstant, kRegister, kDeref };
  Kind kind = Kind::kConstant;
  std::uint64_t reg = 0;
  std::int64_t value = 0;  // constant, or added to the register
};

// Evaluates what compilers and linkers emit: register + constant, what lies there, and the
// arithmetic on rip of procedure linkage tables. False: something else.
bool evaluate(Bytes expression, std::uintptr_t pc, Symbol& result) {
  Reader in(expression.begin, expression.end);
  constexpr unsigned kMost = 8;
  Symbol stack[kMost];
  unsigned depth = 0;
  const auto push = [&](const Symbol& symbol) {
    if (depth == kMost) return false;
    stack[depth++] = symbol;
    return true;
  };
  while (!in.done()) {
    const auto opcode = in.take<std::uint8_t>();
    if (opcode >= 0x30 && opcode <= 0x4f) {  // lit0..lit31
      if (!push({Symbol::Kind::kConstant, 0, opcode - 0x30})) return false;
      continue;
    }
    if (opcode >= 0x70 && opcode <= 0x8f) {  // breg0..breg31
      const std::uint64_t reg = opcode - 0x70u;
      const std::int64_t offset = in.sleb();
      const Symbol symbol = reg == kReturnAddress ? Symbol{Symbol::Kind::kConstant, 0,
                                                           static_cast<std::int64_t>(pc) + offset}
                                                  : Symbol{Symbol::Kind::kRegister, reg, offset};
      if (!push(symbol)) return false;
      continue;
    }
    if (opcode == 0x08) {  // const1u
      if (!push({Symbol::Kind::kConstant, 0, in.take<std::uint8_t>()})) return false;
      continue;
    }
    if (opcode == 0x06) {  // deref
      if (depth == 0 || stack[depth - 1].kind != Symbol::Kind::kRegister) return false;
      stack[depth - 1].kind = Symbol::Kind::kDeref;
      continue;
    }
    if (opcode == 0x23) {  // plus_uconst
      const auto value = static_cast<std::int64_t>(in.uleb());
      if (depth == 0 || stack[depth - 1].kind == Symbol::Kind::kDeref) return false;
      stack[depth - 1].value += value;
      continue;
    }
    if (depth < 2) return false;
    const Symbol b = stack[--depth];
    Symbol& a = stack[depth - 1];
    if (b.kind != Symbol::Kind::kConstant || a.kind == Symbol::Kind::kDeref) return false;
    if (opcode == 0x22) {  // plus
      a.value += b.value;
      continue;
    }
    if (a.kind != Symbol::Kind::kConstant) return false;
    switch (opcode) {
      case 0x1a:  // and
        a.value &= b.value;
        break;
      case 0x24:  // shl
        if (b.value < 0 || b.value > 62) return false;
        a.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.value) << b.value);
        break;
      case 0x2a:  // ge
        a.value = a.value >= b.value ? 1 : 0;
        break;
      default:
        return false;
    }
  }
  if (!in.ok() || depth != 1) return false;
  result = stack[0];
  return true;
}

constexpr Rule kNoRule{RuleKind::kUnknown, 0, 0};

bool is_signal_register(const Where& where, std::uintptr_t pc, std::uintptr_t offset) {
  Symbol symbol;
  return where.kind == Where::Kind::kExpression && evaluate(where.expression, pc, symbol) &&
         symbol.kind == Symbol::Kind::kRegister && symbol.reg == kRsp &&
         symbol.value == static_cast<std::int64_t>(offset);
}

// Words in a byte offset, when they are whole and fit.
bool to_words(std::int64_t bytes, std::int32_t most, std::int32_t& words) {
  if (bytes % 8 != 0 || bytes / 8 > most || bytes / 8 < -most) return false;
  words = static_cast<std::int32_t>(bytes / 8);
  return true;
}

Rule reduce(const Row& row, bool signal_frame, std::uintptr_t pc) {
  if (row.return_address.kind == Where::Kind::kUndefined) return {RuleKind::kEnd, 0, 0};
  if (signal_frame) {
    Symbol cfa;
    const bool known = row.cfa_is_expression && evaluate(row.cfa_expression, pc, cfa) &&
                       cfa.kind == Symbol::Kind::kDeref && cfa.reg == kRsp &&
                       cfa.value == static_cast<std::int64_t>(kSignalRsp) &&
                       is_signal_register(row.return_address, pc, kSignalRip) &&
                       is_signal_register(row.rbp, pc, kSignalRbp);
    return known ? Rule{RuleKind::kSignal, 0, 0} : kNoRule;
  }
  if (row.return_address.kind != Where::Kind::kAtCfa || row.return_address.offset != -8)
    return kNoRule;
  Symbol cfa{Symbol::Kind::kRegister, row.cfa_register, row.cfa_offset};
  if (row.cfa_is_expression && !evaluate(row.cfa_expression, pc, cfa)) return kNoRule;
  Rule rule;
  if (cfa.kind == Symbol::Kind::kConstant || (cfa.reg != kRsp && cfa.reg != kRbp)) return kNoRule;
  if (!to_words(cfa.value, kMostCfa, rule.cfa)) return kNoRule;
  if (cfa.kind == Symbol::Kind::kRegister) {
    rule.kind = cfa.reg == kRsp ? RuleKind::kRsp : RuleKind::kRbp;
    if (rule.kind == RuleKind::kRsp && rule.cfa < 1) return kNoRule;
    if (row.rbp.kind == Where::Kind::kSame) return rule;
    if (row.rbp.kind != Where::Kind::kAtCfa || row.rbp.offset >= 0 ||
        !to_words(-row.rbp.offset, kMostRbp, rule.rbp)) {
      return kNoRule;
    }
    return rule;
  }
  Symbol saved;
  if (cfa.reg != kRbp || row.rbp.kind != Where::Kind::kExpression ||
      !evaluate(row.rbp.expression, pc, saved) || saved.kind != Symbol::Kind::kRegister ||
      saved.reg != kRbp || !to_words(saved.value, kDerefBias - 1, rule.rbp)) {
    return kNoRule;
  }
  rule.kind = RuleKind::kRbpDeref;
  rule.rbp += kDerefBias;
  return rule;
}

}  // namespace

bool starts_function(const ModuleImage& module, std::uintptr_t pc) {
  const std::uintptr_t address = find_fde(module, pc);
  Fde fde;
  return address != 0 && read_fde(module, address, fde) && fde.start == pc;
}

Rule rule_at(const ModuleImage& module, std::uintptr_t pc) {
  const std::uintptr_t address = find_fde(module, pc);
  Fde fde;
  if (address == 0 || !read_fde(module, address, fde)) return kNoRule;
  if (pc < fde.start || pc >= fde.end) return kNoRule;
  Row row;
  if (!row_at(fde.cie, fde.instructions, fde.start, pc, row)) return kNoRule;
  return reduce(row, fde.cie.signal_frame, pc);
}

}  // namespace hitch::unwind
