#include <gtest/gtest.h>

#include "viewer/app/run_options.h"
#include "viewer/app/shell_word.h"
#include "viewer/app/suggest.h"

namespace hitch::app {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("report", "report"), 0u);
  EXPECT_EQ(edit_distance("reprot", "report"), 1u);
  EXPECT_EQ(edit_distance("rport", "report"), 1u);
  EXPECT_EQ(edit_distance("", "run"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> words = {"run", "report", "dump", "recover", "version"};
  EXPECT_EQ(closest_word("reprot", words), "report");
  EXPECT_EQ(closest_word("rnu", words), "run");
  EXPECT_EQ(closest_word("rec", words), "recover");
  EXPECT_EQ(closest_word("versoin", words), "version");
}

TEST(Suggest, SaysNothingWhenNothingIsClose) {
  const std::vector<std::string> words = {"run", "report", "dump", "recover", "version"};
  EXPECT_EQ(closest_word("frobnicate", words), "");
  EXPECT_EQ(closest_word("xyz", words), "");
  EXPECT_EQ(closest_word("word", {}), "");
}

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("/tmp/a-1.hitch"), "/tmp/a-1.hitch");
  EXPECT_EQ(shell_word("my game.hitch"), "'my game.hitch'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(RunOptions, CheckValuesAgainstTheTable) {
  EXPECT_EQ(check_value("--level", "count"), "");
  EXPECT_EQ(check_value("--level", "fast"),
            "--level: 'fast' is not one of its values (count|time|trace).");
  EXPECT_EQ(check_value("--buffer", "many"), "--buffer: 'many' is not a whole number.");
  EXPECT_EQ(check_value("--output", std::string(300, 'x')).substr(0, 9), "--output:");
}

TEST(RunOptions, PutTheLibraryFirstAndKeepWhatIsThere) {
  const char* environment[] = {"A=1", "LD_PRELOAD=/opt/overlay.so", "HITCH_LEVEL=time", nullptr};
  const auto result =
      game_environment(environment, {{"HITCH_LEVEL", "count"}, {"HITCH_DIR", "/tmp"}}, "/x/lib.so");
  const std::vector<std::string> expected = {"A=1", "HITCH_LEVEL=count", "HITCH_DIR=/tmp",
                                             "LD_PRELOAD=/x/lib.so:/opt/overlay.so"};
  EXPECT_EQ(result, expected);
}

TEST(RunOptions, LeavePreloadAloneWithoutALibrary) {
  const char* environment[] = {"LD_PRELOAD=a.so", nullptr};
  EXPECT_EQ(game_environment(environment, {}, ""), std::vector<std::string>{"LD_PRELOAD=a.so"});
  const char* empty[] = {"LD_PRELOAD=", nullptr};
  EXPECT_EQ(game_environment(empty, {}, "/x.so"), std::vector<std::string>{"LD_PRELOAD=/x.so"});
}

}  // namespace
}  // namespace hitch::app
