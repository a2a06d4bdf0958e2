#include "viewer/model/clock.h"

#include <gtest/gtest.h>

namespace hitch::model {
namespace {

using Pair = format::trace::Calibration;

TEST(Clock, TakesTheHeadersRateWithoutPairs) {
  const Clock clock(2'000'000'000, {});
  EXPECT_DOUBLE_EQ(clock.ns(2'000'000), 1e6);
  EXPECT_FALSE(clock.calibrated());
}

TEST(Clock, RefinesTheRateWithFirstAndLastPair) {
  const Clock clock(3'000'000'000, {Pair{1000, 0, 0}, Pair{2'000'000'000, 700'000'000, 0},
                                    Pair{3'003'001'000, 1'000'000'000, 0}});
  EXPECT_TRUE(clock.calibrated());
  EXPECT_NEAR(clock.ns(3'003'000'000), 1e9, 1);
}

TEST(Clock, DoesNotBelieveImplausiblePairs) {
  const Clock far(1'000'000'000, {Pair{0, 0, 0}, Pair{1'000'000'000, 2'000'000'000, 0}});
  EXPECT_DOUBLE_EQ(far.ns(1000), 1000);
  const Clock near(1'000'000'000, {Pair{0, 0, 0}, Pair{1000, 1015, 0}});
  EXPECT_DOUBLE_EQ(near.ns(1000), 1000);
  const Clock backwards(1'000'000'000, {Pair{1000, 500, 0}, Pair{2'000'000'000, 400, 0}});
  EXPECT_DOUBLE_EQ(backwards.ns(1000), 1000);
}

TEST(Clock, SurvivesAHeaderWithoutARate) {
  EXPECT_DOUBLE_EQ(Clock(0, {}).ns(5), 5);
  const Clock pairs_only(0, {Pair{0, 0, 0}, Pair{200'000'000, 100'000'000, 0}});
  EXPECT_DOUBLE_EQ(pairs_only.ns(10), 5);
}

TEST(Clock, KnowsTheTimeOfDayOfTickZero) {
  const Clock clock(1'000'000'000, {Pair{5000, 77, 1'700'000'000'000'005'000}});
  EXPECT_NEAR(static_cast<double>(clock.realtime_origin_ns()), 1.7e18, 300);
}

}  // namespace
}  // namespace hitch::model
