#include "unwind/cfi_rows.h"

namespace hitch::unwind {
namespace {

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

}  // namespace

bool row_at(const Cie& cie, Bytes instructions, std::uintptr_t start, std::uintptr_t pc, Row& row) {
  Machine machine(cie);
  if (!machine.run(cie.instructions, start, ~std::uintptr_t{0}, true)) return false;
  if (!machine.run(instructions, start, pc, false)) return false;
  row = machine.row();
  return true;
}

}  // namespace hitch::unwind
