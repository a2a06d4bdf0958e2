#include "config/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hitch::config {
namespace {

std::vector<std::string>* g_complaints = nullptr;

void note_complaint(const OptionRow& row, const char* value, const char* why) {
  g_complaints->push_back(std::string(row.env) + "=" + value + " " + why);
}

TEST(Options, DefaultsComeFromTheTable) {
  Options options;
  set_defaults(options);
  EXPECT_EQ(options.level, 2u);
  EXPECT_EQ(options.time, 2u);
  EXPECT_DOUBLE_EQ(options.outlier_us, 30);
  EXPECT_DOUBLE_EQ(options.window_ms, 16.67);
  EXPECT_EQ(options.buffer_mib, 64u);
  EXPECT_EQ(options.stack_depth, 64u);
  EXPECT_FALSE(options.children);
  EXPECT_STREQ(options.output.text, "");
}

TEST(Options, EveryDefaultIsValid) {
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    Options options;
    EXPECT_EQ(set_option(options, kOptionRows[i], kOptionRows[i].fallback), nullptr)
        << kOptionRows[i].field;
  }
}

TEST(Options, EnvironmentOverridesAndBadValuesKeepTheDefault) {
  const char* environment[] = {"HITCH_LEVEL=count",    "HITCH_TIME=sometimes",
                               "HITCH_BUFFER_MIB=-3",  "HITCH_OUTLIER_US=12.5",
                               "HITCH_HOOK_SLEEP=yes", "HITCH_DIR=/tmp/x",
                               "HITCH_LEVELS=time",    nullptr};
  std::vector<std::string> complaints;
  g_complaints = &complaints;
  Options options;
  read_environment(options, environment, note_complaint);
  EXPECT_EQ(options.level, 0u);
  EXPECT_EQ(options.time, 2u);
  EXPECT_EQ(options.buffer_mib, 64u);
  EXPECT_DOUBLE_EQ(options.outlier_us, 12.5);
  EXPECT_TRUE(options.hook_sleep);
  EXPECT_STREQ(options.dir.text, "/tmp/x");
  ASSERT_EQ(complaints.size(), 3u);
  EXPECT_EQ(complaints[0], "HITCH_TIME=sometimes is not one of its values");
  EXPECT_EQ(complaints[1], "HITCH_BUFFER_MIB=-3 is not a whole number");
  EXPECT_EQ(complaints[2], "HITCH_HOOK_SLEEP=yes is neither 0 nor 1");
}

TEST(Options, RejectsWhatDoesNotFit) {
  Options options;
  set_defaults(options);
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const OptionRow& row = kOptionRows[i];
    if (row.type == OptionType::Number) {
      EXPECT_NE(set_option(options, row, ""), nullptr);
      EXPECT_NE(set_option(options, row, "99999999999999999999"), nullptr);
      EXPECT_NE(set_option(options, row, "1k"), nullptr);
    } else if (row.type == OptionType::Real) {
      EXPECT_NE(set_option(options, row, "."), nullptr);
      EXPECT_NE(set_option(options, row, "1.2.3"), nullptr);
      EXPECT_NE(set_option(options, row, "-1"), nullptr);
    } else if (row.type == OptionType::Text) {
      EXPECT_NE(set_option(options, row, std::string(256, 'x').c_str()), nullptr);
      EXPECT_EQ(set_option(options, row, std::string(255, 'x').c_str()), nullptr);
    }
  }
}

TEST(Options, AnEnvironmentThatIsNotThereYetMeansDefaults) {
  Options options;
  read_environment(options, nullptr, nullptr);
  EXPECT_EQ(options.level, 2u);
  EXPECT_EQ(find_variable(nullptr, "HITCH_LEVEL"), nullptr);
}

}  // namespace
}  // namespace hitch::config
