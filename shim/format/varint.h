// LEB128 varints and zigzag, as in Protocol Buffers' encoding documentation. Bounds-checked
// readers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hitch::format {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Takes one varint off the front of `in`. False when it is cut short or longer than 64 bits.
inline bool take_varint(std::string_view& in, std::uint64_t& value) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 10 && i < in.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(in[i]);
    if (i == 9 && byte > 1) return false;
    result |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      value = result;
      return true;
    }
  }
  return false;
}

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace hitch::format
