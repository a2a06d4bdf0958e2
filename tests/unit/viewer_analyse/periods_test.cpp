// A period is found through jitter, gaps and strangers, and never in moments that come at random.
#include "viewer/analyse/periods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace hitch::analyse {
namespace {

std::vector<double> every(double period, std::size_t times, double first = 100) {
  std::vector<double> moments;
  for (std::size_t i = 0; i < times; ++i)
    moments.push_back(first + period * static_cast<double>(i));
  return moments;
}

void sort_unique(std::vector<double>& moments) {
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
}

// How many of `seeds` series of `count` random frames among `frames` are called periodic.
int accused(std::size_t count, double frames, int seeds) {
  int found = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed) * 7919 + count);
    std::uniform_real_distribution<double> anywhere(0, frames);
    std::vector<double> moments;
    for (std::size_t i = 0; i < count; ++i) moments.push_back(std::floor(anywhere(random)));
    sort_unique(moments);
    if (find_period(moments, 1)) ++found;
  }
  return found;
}

TEST(Periods, FourEqualIntervalsAreOneThreeMomentsAreNot) {
  const auto period = find_period(every(60, 4), 1);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 60);
  EXPECT_EQ(period->spread, 0);
  EXPECT_EQ(period->pairs.size(), 3u);
  EXPECT_FALSE(find_period(every(60, 3), 1));
  EXPECT_FALSE(find_period({}, 1));
}

TEST(Periods, AMissingMomentAndAStrangerDoNotHideIt) {
  std::vector<double> moments = every(60, 14);
  moments.erase(moments.begin() + 6);
  moments.push_back(333);
  sort_unique(moments);
  const auto period = find_period(moments, 1);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 60);
  EXPECT_EQ(period->pairs.size(), 11u) << "13 of the period, one of them before the gap";
  for (const auto& [from, to] : period->pairs) {
    EXPECT_NE(moments[from], 333);
    EXPECT_NE(moments[to], 333);
  }
}

TEST(Periods, JitterOfSomeFramesIsItsSpread) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> jitter(-3, 3);
    std::vector<double> moments = every(60, 14);
    double late = 0;
    for (double& moment : moments) {
      late += jitter(random);  // the next interval begins where this one ended
      moment = std::round(moment + late);
    }
    const auto period = find_period(moments, 1);
    if (!period) continue;
    ++found;
    EXPECT_NEAR(period->length, 60, 3) << seed;
    EXPECT_LE(period->spread, 0.1) << seed;
  }
  EXPECT_GE(found, 95);
}

TEST(Periods, TheShortestIsToldNotItsMultiples) {
  for (const double length : {5.0, 61.0, 700.0}) {
    const auto period = find_period(every(length, 20), 1);
    ASSERT_TRUE(period) << length;
    EXPECT_EQ(period->length, length);
  }
}

TEST(Periods, TwoInEachPeriodAreThatPeriod) {
  std::vector<double> moments = every(90, 12);
  const std::vector<double> others = every(90, 12, 121);
  moments.insert(moments.end(), others.begin(), others.end());
  sort_unique(moments);
  const auto period = find_period(moments, 1);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 90);
}

TEST(Periods, FramesInARowAreNone) {
  EXPECT_FALSE(find_period(every(1, 30), 1));
  EXPECT_FALSE(find_period(every(2, 30), 1));
}

TEST(Periods, MomentsRightBehindOthersAreNoStrangers) {
  std::vector<double> moments = every(60, 8);
  for (const double moment : every(60, 8, 102)) moments.push_back(moment);
  sort_unique(moments);
  const auto period = find_period(moments, 1);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 60);
  EXPECT_EQ(period->pairs.size(), 7u);
}

TEST(Periods, MomentsOfADamagedFileHaveNone) {
  EXPECT_FALSE(find_period({100, 160, 220, 280, 90, 340}, 1));
  EXPECT_FALSE(find_period(every(60, 8), 0));
  EXPECT_FALSE(find_period(std::vector<double>(8, 5), 1));
}

TEST(Periods, SpreadIsWhatNineInTenIntervalsKeep) {
  const Period period = period_of({100, 100, 100, 100, 100, 102, 98, 97, 104, 150, 0, -5});
  EXPECT_EQ(period.length, 100);
  EXPECT_NEAR(period.spread, 0.04, 1e-12);
  EXPECT_EQ(period_of({}).length, 0);
}

TEST(Periods, RandomMomentsHaveNone) {
  for (const std::size_t count : {4u, 6u, 9u, 14u, 20u, 40u}) {
    EXPECT_LT(accused(count, 1000, 2000), 20) << count;
    EXPECT_LT(accused(count, 20'000, 2000), 20) << count;
  }
  EXPECT_LT(accused(100, 1000, 300), 6);
  EXPECT_LT(accused(300, 20'000, 100), 3);
}

TEST(Periods, RandomBurstsHaveNone) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    std::bernoulli_distribution burst_ends(0.25);
    std::exponential_distribution<double> within(1.0 / 15);
    std::exponential_distribution<double> between(1.0 / 2000);
    std::vector<double> moments;
    double at = 0;
    for (int i = 0; i < 20; ++i) {
      at += std::ceil(burst_ends(random) ? between(random) : within(random));
      moments.push_back(at);
    }
    sort_unique(moments);
    if (find_period(moments, 1)) ++found;
  }
  EXPECT_LT(found, 10);
}

}  // namespace
}  // namespace hitch::analyse
