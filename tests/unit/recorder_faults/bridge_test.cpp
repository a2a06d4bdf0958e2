// The kernel's clock against the shim's.
#include <gtest/gtest.h>

#include "recorder/faults/tick_bridge.h"

namespace hitch::faults {
namespace {

TEST(TickBridge, FollowsTheFirstEstimateUntilItKnowsBetter) {
  TickBridge bridge(2e9, 1000);
  bridge.anchor(5000, 1'000'000);
  EXPECT_EQ(bridge.key(1'000'000), 4000u);
  EXPECT_EQ(bridge.key(1'000'100), 4200u);
  EXPECT_EQ(bridge.key(999'900), 3800u);
}

TEST(TickBridge, ASecondReadingCorrectsTheSlope) {
  TickBridge bridge(2e9, 0);
  bridge.anchor(0, 1'000'000'000);
  // 2.1 ticks a nanosecond, over a second.
  bridge.anchor(2'100'000'000, 2'000'000'000);
  EXPECT_EQ(bridge.key(2'000'000'000), 2'100'000'000u);
  EXPECT_NEAR(static_cast<double>(bridge.key(3'000'000'000)), 4.2e9, 2);
}

TEST(TickBridge, ReadingsThatAreCloseDoNot) {
  TickBridge bridge(1e9, 0);
  bridge.anchor(1000, 1000);
  bridge.anchor(3000, 2000);  // one of them was interrupted
  EXPECT_EQ(bridge.key(2500), 3500u);
}

TEST(TickBridge, WhatLiesBeforeTheBaseIsZero) {
  TickBridge bridge(1e9, 1'000'000);
  bridge.anchor(1'000'500, 5000);
  EXPECT_EQ(bridge.key(4500), 0u);
  EXPECT_EQ(bridge.key(1000), 0u);
}

}  // namespace
}  // namespace hitch::faults
