#include "viewer/model/histogram.h"

#include <gtest/gtest.h>

#include "format/histogram.h"

namespace hitch::model {
namespace {

using format::histogram_bucket;

TEST(Histogram, QuantilesAreWithinThreePercent) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 10'000; ++value)
    histogram.add({histogram_bucket(value), 1});
  EXPECT_EQ(histogram.calls(), 10'000u);
  for (const double share : {0.5, 0.95, 0.99, 0.999}) {
    EXPECT_NEAR(histogram.quantile(share) / (share * 10'000), 1, 0.032) << share;
  }
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  histogram.add({histogram_bucket(7), 99, histogram_bucket(20), 1});
  EXPECT_EQ(histogram.quantile(0.5), 7);
  EXPECT_EQ(histogram.quantile(1), 20);
}

TEST(Histogram, EmptyAndMalformedPairsDoNoHarm) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add({99'999'999, 5, 3});
  EXPECT_EQ(histogram.calls(), 0u);
}

}  // namespace
}  // namespace hitch::model
