#include "viewer/render/units.h"

#include <gtest/gtest.h>

namespace hitch::render {
namespace {

TEST(Units, CountsHaveThousandsSeparators) {
  EXPECT_EQ(count_text(std::uint64_t{0}), "0");
  EXPECT_EQ(count_text(std::uint64_t{999}), "999");
  EXPECT_EQ(count_text(std::uint64_t{83'910}), "83,910");
  EXPECT_EQ(count_text(std::uint64_t{6'800'000}), "6,800,000");
  EXPECT_EQ(count_text(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(Units, FractionsShowOnlyBelowAHundred) {
  EXPECT_EQ(count_text(12.54), "12.5");
  EXPECT_EQ(count_text(12.0), "12");
  EXPECT_EQ(count_text(1234.6), "1,235");
  EXPECT_EQ(count_text(0.01), "<0.1");
}

TEST(Units, DurationsChooseTheirUnit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(42), "42 ns");
  EXPECT_EQ(duration_text(12'345), "12.3 us");
  EXPECT_EQ(duration_text(999'700), "1.00 ms");
  EXPECT_EQ(duration_text(13.4e6), "13.4 ms");
  EXPECT_EQ(duration_text(999.8e6), "1.00 s");
  EXPECT_EQ(duration_text(20.06e9), "20.1 s");
  EXPECT_EQ(duration_text(250e9), "4 min 10 s");
  EXPECT_EQ(duration_text(7300e9), "2 h 1 min");
  EXPECT_EQ(duration_text(-5e6), "-5.00 ms");
}

TEST(Units, BytesChooseTheirUnit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(33.5 * 1024 * 1024), "33.5 MiB");
}

TEST(Units, SmallSharesAreNotZero) {
  EXPECT_EQ(percent_text(0), "0.00 %");
  EXPECT_EQ(percent_text(0.00001), "<0.01 %");
  EXPECT_EQ(percent_text(0.0025), "0.25 %");
  EXPECT_EQ(percent_text(0.042), "4.2 %");
  EXPECT_EQ(percent_text(0.92), "92 %");
}

TEST(Units, MillisecondsCarryTheirSign) {
  EXPECT_EQ(signed_ms_text(1.8e6), "+1.80");
  EXPECT_EQ(signed_ms_text(-1.8e6), "-1.80");
  EXPECT_EQ(signed_ms_text(100), "0.00");
  EXPECT_EQ(signed_ms_text(-100), "0.00");
}

TEST(Units, DatesAreUtc) {
  EXPECT_EQ(date_text(1'760'000'000'000'000'000), "2025-10-09 08:53:20 UTC");
  EXPECT_EQ(date_text(0), "");
}

}  // namespace
}  // namespace hitch::render
