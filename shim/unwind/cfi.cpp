#include "unwind/cfi.h"

#include <cstddef>
#include <cstring>

namespace hitch::unwind {
namespace {

constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kReturnAddress = 16;

// A bounded cursor: past the end everything reads as zero and ok() turns false.
class Reader {
 public:
  Reader(std::uintptr_t at, std::uintptr_t end) : at_(at), end_(end) {}
  bool ok() const { return ok_; }
  std::uintptr_t at() const { return at_; }
  bool done() const { return at_ >= end_ || !ok_; }
  std::uintptr_t end() const { return end_; }

  template <class T>
  T take() {
    T value{};
    if (!ok_ || end_ - at_ < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return value;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    ok_ = false;
    return 0;
  }
  void skip(std::uint64_t bytes) {
    if (!ok_ || end_ - at_ < bytes) {
      ok_ = false;
      return;
    }
    at_ += bytes;
  }
  // A reader for the next `bytes`, which this one skips.
  Reader part(std::uint64_t bytes) {
    const std::uintptr_t begin = at_;
    skip(bytes);
    return {begin, ok_ ? begin + bytes : begin};
  }
  void fail() { ok_ = false; }

 private:
  std::uintptr_t at_;
  std::uintptr_t end_;
  bool ok_ = true;
};

// DW_EH_PE_* encodings.
constexpr std::uint8_t kOmit = 0xff;
std::uintptr_t take_encoded(Reader& in, std::uint8_t encoding, std::uintptr_t data_base) {
  const std::uintptr_t place = in.at();
  std::uintptr_t value = 0;
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = in.take<std::uint64_t>();
      break;
    case 0x01:
      value = in.uleb();
      break;
    case 0x09:
      value = static_cast<std::uintptr_t>(in.sleb());
      break;
    case 0x02:
      value = in.take<std::uint16_t>();
      break;
    case 0x03:
      value = in.take<std::uint32_t>();
      break;
    case 0x0a:
      value = static_cast<std::uintptr_t>(std::intptr_t{in.take<std::int16_t>()});
      break;
    case 0x0b:
      value = static_cast<std::uintptr_t>(std::intptr_t{in.take<std::int32_t>()});
      break;
    default:
      in.fail();
  }
  switch (encoding & 0x70) {
    case 0x00:
      return value;
    case 0x10:
      return value + place;
    case 0x30:
      return value + data_base;
    default:
      in.fail();
      return 0;
  }
}

// A byte range of the module.
struct Bytes {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

struct Cie {
  std::uint64_t code_align = 1;
  std::int64_t data_align = 1;
  std::uint64_t return_register = kReturnAddress;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool signal_frame = false;
  Bytes instructions;
};

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
  struct Row {
    std::int32_t start;
    std::int32_t fde;
  };
  const auto* rows = reinterpret_cast<const char*>(in.at());
  const auto row = [rows](std::uint64_t i) {
    Row value;
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

// What a register rule or the CFA says, as far as it can matter.
struct Where {
  enum class Kind : std::uint8_t { kSame, kAtCfa, kExpression, kUndefined, kOther };
  Kind kind = Kind::kSame;
  std::int64_t offset = 0;  // kAtCfa
  Bytes expression;         // kExpression: gives the address
};

struct Row {
  bool cfa_is_expression = false;
  std::uint64_t cfa_register = kRsp;
  std::int64_t cfa_offset = 0;
  Bytes cfa_expression;
  Where rbp;
  Where return_address;
};

class Machine {
 public:
  explicit Machine(const Cie& cie) : cie_(cie) {}

  // Runs `code` until the row for `pc` is complete. False: it makes no sense.
  bool run(Bytes code, std::uintptr_t start, std::uintptr_t pc, bool is_cie) {
    Reader in(code.begin, code.end);
    std::uintptr_t at = start;
    while (!in.done()) {
      const auto byte = in.take<std::uint8_t>();
      const std::uint8_t operand = byte & 0x3f;
      std::uint64_t advance = 0;
      switch (byte & 0xc0) {
        case 0x40:
          advance = operand;
          break;
        case 0x80:
          set(operand, at_cfa(in.uleb()));
          continue;
        case 0xc0:
          restore(operand);
          continue;
        default:
          if (!plain(byte, in, at, advance)) return false;
      }
      if (advance == 0) continue;
      at += advance * cie_.code_align;
      if (at > pc) return in.ok();
    }
    if (is_cie) initial_ = row_;
    return in.ok();
  }
  const Row& row() const { return row_; }

 private:
  Where at_cfa(std::uint64_t factored) const {
    return {Where::Kind::kAtCfa, static_cast<std::int64_t>(factored) * cie_.data_align, {}};
  }
  Where* slot(std::uint64_t reg) {
    if (reg == kRbp) return &row_.rbp;
    if (reg == cie_.return_register) return &row_.return_address;
    return nullptr;
  }
  void set(std::uint64_t reg, const Where& where) {
    if (Where* place = slot(reg)) *place = where;
  }
  void restore(std::uint64_t reg) {
    if (reg == kRbp) row_.rbp = initial_.rbp;
    if (reg == cie_.return_register) row_.return_address = initial_.return_address;
  }
  void define_cfa(std::uint64_t reg, std::int64_t offset) {
    row_.cfa_is_expression = false;
    row_.cfa_register = reg;
    row_.cfa_offset = offset;
  }
  static Bytes take_block(Reader& in) {
    const Reader block = in.part(in.uleb());
    return {block.at(), block.end()};
  }

  // The instructions without an operand in their first byte (DWARF 5, table 7.29).
  bool plain(std::uint8_t opcode, Reader& in, std::uintptr_t& at, std::uint64_t& advance) {
    switch (opcode) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        at = take_encoded(in, cie_.pointer_encoding, 0);
        return false;
      case 0x02:
        advance = in.take<std::uint8_t>();
        return true;
      case 0x03:
        advance = in.take<std::uint16_t>();
        return true;
      case 0x04:
        advance = in.take<std::uint32_t>();
        return true;
      case 0x05: {  // offset_extended
        const std::uint64_t reg = in.uleb();
        set(reg, at_cfa(in.uleb()));
        return true;
      }
      case 0x06:  // restore_extended
        restore(in.uleb());
        return true;
      case 0x07:  // undefined
        set(in.uleb(), {Where::Kind::kUndefined, 0, {}});
        return true;
      case 0x08:  // same_value
        set(in.uleb(), {});
        return true;
      case 0x09: {  // register
        const std::uint64_t reg = in.uleb();
        in.uleb();
        set(reg, {Where::Kind::kOther, 0, {}});
        return true;
      }
      case 0x0a:  // remember_state
        if (saved_ == kMostSaved) return false;
        saves_[saved_++] = row_;
        return true;
      case 0x0b:  // restore_state
        if (saved_ == 0) return false;
        row_ = saves_[--saved_];
        return true;
      case 0x0c: {  // def_cfa
        const std::uint64_t reg = in.uleb();
        define_cfa(reg, static_cast<std::int64_t>(in.uleb()));
        return true;
      }
      case 0x0d:  // def_cfa_register
        define_cfa(in.uleb(), row_.cfa_offset);
        return true;
      case 0x0e:  // def_cfa_offset
        define_cfa(row_.cfa_register, static_cast<std::int64_t>(in.uleb()));
        return true;
      case 0x0f:  // def_cfa_expression
        row_.cfa_is_expression = true;
        row_.cfa_expression = take_block(in);
        return true;
      case 0x10: {  // expression
        const std::uint64_t reg = in.uleb();
        set(reg, {Where::Kind::kExpression, 0, take_block(in)});
        return true;
      }
      case 0x16: {  // val_expression
        const std::uint64_t reg = in.uleb();
        take_block(in);
        set(reg, {Where::Kind::kOther, 0, {}});
        return true;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = in.uleb();
        set(reg, {Where::Kind::kAtCfa, in.sleb() * cie_.data_align, {}});
        return true;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = in.uleb();
        define_cfa(reg, in.sleb() * cie_.data_align);
        return true;
      }
      case 0x13:  // def_cfa_offset_sf
        define_cfa(row_.cfa_register, in.sleb() * cie_.data_align);
        return true;
      case 0x14:    // val_offset
      case 0x15: {  // val_offset_sf
        const std::uint64_t reg = in.uleb();
        in.uleb();
        set(reg, {Where::Kind::kOther, 0, {}});
        return true;
      }
      case 0x2e:  // GNU_args_size
        in.uleb();
        return true;
      case 0x2f: {  // GNU_negative_offset_extended
        const std::uint64_t reg = in.uleb();
        set(reg,
            {Where::Kind::kAtCfa, -static_cast<std::int64_t>(in.uleb()) * cie_.data_align, {}});
        return true;
      }
      default:
        return false;
    }
  }

  static constexpr unsigned kMostSaved = 8;
  const Cie& cie_;
  Row row_;
  Row initial_;
  Row saves_[kMostSaved];
  unsigned saved_ = 0;
};

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
  Machine machine(fde.cie);
  if (!machine.run(fde.cie.instructions, fde.start, ~std::uintptr_t{0}, true)) return kNoRule;
  if (!machine.run(fde.instructions, fde.start, pc, false)) return kNoRule;
  return reduce(machine.row(), fde.cie.signal_frame, pc);
}

}  // namespace hitch::unwind
