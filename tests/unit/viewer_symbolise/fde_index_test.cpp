#include "viewer/symbolise/fde_index.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hitch::symbolise {
namespace {

void put32(std::string& out, std::uint32_t value) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}

constexpr std::uint64_t kAddress = 0x5000;

// A CIE "zR" with pc-relative 32-bit addresses and one FDE per range.
std::string eh_frame(const std::vector<FunctionRange>& ranges) {
  std::string out;
  put32(out, 16);
  put32(out, 0);
  out += std::string("\x01zR\0\x01\x78\x10\x01\x1b", 9);
  out.append(3, '\0');
  for (const FunctionRange& range : ranges) {
    put32(out, 16);
    put32(out, static_cast<std::uint32_t>(out.size()));
    put32(out, static_cast<std::uint32_t>(range.start - (kAddress + out.size())));
    put32(out, static_cast<std::uint32_t>(range.bytes));
    put32(out, 0);
  }
  put32(out, 0);
  return out;
}

TEST(FdeIndex, FindsTheFunctionAroundAnAddress) {
  const FdeIndex index(eh_frame({{0x1200, 0x40}, {0x1000, 0x100}}), kAddress);
  ASSERT_EQ(index.size(), 2u);
  ASSERT_TRUE(index.find(0x1000));
  EXPECT_EQ(index.find(0x1000)->start, 0x1000u);
  EXPECT_EQ(index.find(0x10ff)->start, 0x1000u);
  EXPECT_EQ(index.find(0x123f)->start, 0x1200u);
}

TEST(FdeIndex, SaysNothingBetweenFunctions) {
  const FdeIndex index(eh_frame({{0x1000, 0x100}, {0x1200, 0x40}}), kAddress);
  EXPECT_FALSE(index.find(0x0fff));
  EXPECT_FALSE(index.find(0x1100));
  EXPECT_FALSE(index.find(0x1240));
  EXPECT_FALSE(index.find(~std::uint64_t{0}));
}

TEST(FdeIndex, IgnoresEntriesOfDroppedFunctions) {
  const FdeIndex index(eh_frame({{0, 0x100}, {0x1200, 0}}), kAddress);
  EXPECT_EQ(index.size(), 0u);
}

TEST(FdeIndex, StopsAtBytesThatMakeNoSense) {
  const std::string whole = eh_frame({{0x1000, 0x100}, {0x1200, 0x40}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_LE(FdeIndex(cut, kAddress).size(), 2u);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    EXPECT_LE(FdeIndex(damaged, kAddress).size(), 2u);
  }
  EXPECT_EQ(FdeIndex(std::string(64, '\xff'), kAddress).size(), 0u);
  EXPECT_EQ(FdeIndex({}, 0).size(), 0u);
}

}  // namespace
}  // namespace hitch::symbolise
