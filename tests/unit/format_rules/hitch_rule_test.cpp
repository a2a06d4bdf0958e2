#include "format/hitch_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hitch::format {
namespace {

std::vector<std::size_t> hitches(const std::vector<double>& ms, HitchRule rule = {}) {
  std::vector<std::size_t> found;
  const auto verdicts = judge_frames(ms, rule);
  EXPECT_EQ(verdicts.size(), ms.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].is_hitch) found.push_back(i);
  }
  return found;
}

TEST(HitchRule, OneSlowFrameAmongSteadyOnesIsFoundAlone) {
  std::vector<double> ms(300, 9.2);
  ms[150] = 13.4;
  EXPECT_EQ(hitches(ms), std::vector<std::size_t>{150});
  std::vector<double> vsync(300, 16.6);
  vsync[3] = 18.6;
  vsync[297] = 18.6;
  EXPECT_EQ(hitches(vsync), (std::vector<std::size_t>{3, 297}));
}

TEST(HitchRule, NoiseOfOneMillisecondIsNotAHitch) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-1, 1);
  std::vector<double> ms;
  for (int i = 0; i < 5000; ++i) ms.push_back(16.6 + noise(random));
  EXPECT_TRUE(hitches(ms).empty());
}

TEST(HitchRule, ALevelChangeIsNotAHitchForLong) {
  std::vector<double> ms(200, 8.0);
  ms.insert(ms.end(), 200, 16.0);
  // Only frames whose window is still mostly fast stand out.
  for (const std::size_t i : hitches(ms)) {
    EXPECT_GE(i, 200u);
    EXPECT_LT(i, 260u);
  }
}

TEST(HitchRule, ShortRunsAreOneWindow) {
  EXPECT_TRUE(hitches({}).empty());
  EXPECT_TRUE(hitches({100}).empty());
  EXPECT_EQ(hitches({5, 5, 9, 5}), std::vector<std::size_t>{2});
}

TEST(HitchRule, LimitsAreOptions) {
  std::vector<double> ms(200, 9.0);
  ms[100] = 10.0;
  EXPECT_TRUE(hitches(ms).empty());
  EXPECT_EQ(hitches(ms, {.least_ms = 0.5, .mad_factor = 6}), std::vector<std::size_t>{100});
}

// The sliding implementation against a plain one.
TEST(HitchRule, MedianAndDeviationMatchAPlainComputation) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> duration(50, 90);
  for (const std::size_t count : {1u, 2u, 7u, 119u, 120u, 121u, 333u}) {
    std::vector<double> ms;
    for (std::size_t i = 0; i < count; ++i) ms.push_back(duration(random) / 4.0);
    const auto verdicts = judge_frames(ms);
    ASSERT_EQ(verdicts.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t width = std::min(count, kHitchWindow);
      std::size_t first = i > kHitchWindow / 2 ? i - kHitchWindow / 2 : 0;
      first = std::min(first, count - width);
      std::vector<double> window(ms.begin() + static_cast<std::ptrdiff_t>(first),
                                 ms.begin() + static_cast<std::ptrdiff_t>(first + width));
      std::sort(window.begin(), window.end());
      const double median = sorted_median(window);
      std::vector<double> deviations;
      for (const double value : window) deviations.push_back(std::abs(value - median));
      std::sort(deviations.begin(), deviations.end());
      EXPECT_DOUBLE_EQ(verdicts[i].median, median) << count << " " << i;
      EXPECT_DOUBLE_EQ(verdicts[i].mad, sorted_median(deviations)) << count << " " << i;
      EXPECT_DOUBLE_EQ(verdicts[i].excess, ms[i] - median);
    }
  }
}

}  // namespace
}  // namespace hitch::format
