// CRC32C (Castagnoli, reflected 0x82F63B78), table-driven; about 1 GB/s, far above what a trace
// writes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace hitch::format {

inline std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t seed = 0) {
  static constexpr auto kTable = [] {
    std::array<std::array<std::uint32_t, 256>, 8> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
      table[0][i] = crc;
    }
    for (std::uint32_t i = 0; i < 256; ++i) {
      for (std::size_t t = 1; t < 8; ++t) {
        table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 0xff];
      }
    }
    return table;
  }();
  const auto* p = static_cast<const std::uint8_t*>(data);
  std::uint32_t crc = ~seed;
  for (; bytes >= 8; p += 8, bytes -= 8) {
    const std::uint32_t low =
        crc ^ (static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
               static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24);
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^
          kTable[4][low >> 24] ^ kTable[3][p[4]] ^ kTable[2][p[5]] ^ kTable[1][p[6]] ^
          kTable[0][p[7]];
  }
  for (; bytes > 0; ++p, --bytes) crc = (crc >> 8) ^ kTable[0][(crc ^ *p) & 0xff];
  return ~crc;
}

}  // namespace hitch::format
