#include "viewer/symbolise/offset_name.h"

#include <array>
#include <charconv>

namespace hitch::symbolise {

std::string to_hex_number(std::uint64_t number) {
  std::array<char, 16> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return "0x" + std::string(digits.data(), result.ptr);
}

std::string module_name(const std::string& path) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string_view name = path;
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  name.remove_prefix(name.rfind('/') + 1);
  return name.empty() ? "(unnamed)" : std::string(name);
}

Symbol offset_symbol(const model::Module& module, std::uint64_t address) {
  Symbol symbol;
  symbol.quality = Quality::kOffset;
  symbol.module = module_name(module.path);
  symbol.function = symbol.module + "+" + to_hex_number(module.file_address(address));
  return symbol;
}

Symbol address_symbol(std::uint64_t address) {
  Symbol symbol;
  symbol.function = to_hex_number(address);
  return symbol;
}

}  // namespace hitch::symbolise
