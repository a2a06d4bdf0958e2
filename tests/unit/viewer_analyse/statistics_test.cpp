#include <gtest/gtest.h>

#include <numeric>

#include "viewer/analyse/correlation.h"
#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

TEST(Quantiles, AreValuesThatOccurred) {
  std::vector<double> values(1000);
  std::iota(values.rbegin(), values.rend(), 1);
  const Quantiles quantiles = quantiles_of(values);
  EXPECT_EQ(quantiles.p50, 500);
  EXPECT_EQ(quantiles.p95, 950);
  EXPECT_EQ(quantiles.p99, 990);
  EXPECT_EQ(quantiles.p999, 999);
  EXPECT_EQ(quantiles.max, 1000);
  EXPECT_EQ(quantiles.mean, 500.5);
}

TEST(Quantiles, OfOneValueAreThatValueAndOfNoneZero) {
  EXPECT_EQ(quantiles_of({7}).p999, 7);
  EXPECT_EQ(quantiles_of({7}).p50, 7);
  EXPECT_EQ(quantiles_of({}).max, 0);
}

TEST(Median, IsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median_of({}), 0);
}

TEST(Correlation, OfALineIsOne) {
  const auto c = correlate({1, 2, 3, 4}, {10, 20, 30, 40});
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->pearson, 1, 1e-12);
  EXPECT_NEAR(c->spearman, 1, 1e-12);
}

TEST(Correlation, RanksAreNotSwayedByOneHugeValue) {
  const auto c = correlate({1, 2, 3, 4, 1000}, {5, 4, 3, 2, 1});
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->spearman, -1, 1e-12);
  EXPECT_GT(c->pearson, -0.8);
}

TEST(Correlation, TiesShareTheirRank) {
  const auto c = correlate({1, 1, 2, 2}, {1, 1, 2, 2});
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->spearman, 1, 1e-12);
}

TEST(Correlation, OfAConstantIsNone) {
  EXPECT_FALSE(correlate({1, 1, 1}, {1, 2, 3}));
  EXPECT_FALSE(correlate({1, 2}, {1, 2}));
}

TEST(Meetings, AreMarksAmongAsManyHighestValues) {
  const Meetings met = meetings_of({1, 9, 2, 8, 3, 7}, {false, true, false, true, true, false});
  EXPECT_EQ(met.marked, 3u);
  EXPECT_EQ(met.top, 3u);
  EXPECT_EQ(met.met, 2u);
  EXPECT_DOUBLE_EQ(met.expected, 1.5);
  EXPECT_NEAR(met.probability, 0.5, 1e-12) << "(9 + 1) of 20 ways to draw 3 of 6";
}

TEST(Meetings, ValuesThatShareTheLastPlaceDoNotCount) {
  const Meetings met = meetings_of({9, 5, 5, 5, 1}, {true, true, false, false, false});
  EXPECT_EQ(met.top, 1u);
  EXPECT_EQ(met.met, 1u);
  const Meetings alike = meetings_of({5, 5, 5}, {true, false, false});
  EXPECT_EQ(alike.top, 0u);
  EXPECT_EQ(alike.met, 0u);
  EXPECT_EQ(alike.probability, 1);
}

TEST(Meetings, OfNoMarksAreNone) {
  EXPECT_EQ(meetings_of({1, 2}, {false, false}).expected, 0);
  EXPECT_EQ(meetings_of({}, {}).top, 0u);
}

}  // namespace
}  // namespace hitch::analyse
