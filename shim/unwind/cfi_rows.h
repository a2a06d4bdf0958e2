// Call frame instructions (DWARF 5, 6.4.2): the row of the table that holds at one address.
#pragma once
#include <cstdint>

#include "unwind/cfi_reader.h"

namespace hitch::unwind {

constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kReturnAddress = 16;

// A common information entry: what the functions that name it share.
struct Cie {
  std::uint64_t code_align = 1;
  std::int64_t data_align = 1;
  std::uint64_t return_register = kReturnAddress;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool signal_frame = false;
  Bytes instructions;
};

// What a register rule or the CFA says, as far as it can matter.
struct Where {
  enum class Kind : std::uint8_t { kSame, kAtCfa, kExpression, kUndefined, kOther };
  Kind kind = Kind::kSame;
  std::int64_t offset = 0;  // kAtCfa
  Bytes expression;         // kExpression: gives the address
};

// Where the CFA, the caller's rbp and the return address are. (`register` numbers are DWARF's.)
struct Row {
  bool cfa_is_expression = false;
  std::uint64_t cfa_register = kRsp;
  std::int64_t cfa_offset = 0;
  Bytes cfa_expression;
  Where rbp;
  Where return_address;
};

// Runs the CIE's instructions and those of the function that starts at `start`, until the row for
// `pc` is complete. False: they make no sense.
bool row_at(const Cie& cie, Bytes instructions, std::uintptr_t start, std::uintptr_t pc, Row& row);

}  // namespace hitch::unwind
