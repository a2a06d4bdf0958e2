#include "viewer/app/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/options.h"

namespace hitch::app {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class CommandLineTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& words) {
    out_.str("");
    errors_.str("");
    return run_command_line(words, out_, errors_);
  }
  std::ostringstream out_;
  std::ostringstream errors_;
};

TEST_F(CommandLineTest, SuggestsTheRightCommand) {
  EXPECT_EQ(run({"reprot", "x.hitch"}), 2);
  EXPECT_EQ(errors_.str(), "hitchtrace: unknown command 'reprot': did you mean 'report'?\n");
  EXPECT_EQ(run({"frobnicate"}), 2);
  EXPECT_EQ(errors_.str(), "hitchtrace: unknown command 'frobnicate'.\n");
}

TEST_F(CommandLineTest, SuggestsTheRightOption) {
  EXPECT_EQ(run({"run", "--levle", "count", "--", "true"}), 125);
  EXPECT_EQ(errors_.str(),
            "hitchtrace: unknown option '--levle' of run: did you mean '--level'?\n");
  EXPECT_EQ(run({"report", "--jsn", "x"}), 2);
  EXPECT_EQ(errors_.str(),
            "hitchtrace: unknown option '--jsn' of report: did you mean '--json'?\n");
  EXPECT_EQ(run({"--versoin"}), 2);
  EXPECT_THAT(errors_.str(), HasSubstr("did you mean '--version'?"));
}

TEST_F(CommandLineTest, RefusesWrongValuesInOneSentence) {
  EXPECT_EQ(run({"run", "--level", "fast", "--", "true"}), 125);
  EXPECT_EQ(errors_.str(),
            "hitchtrace: --level: 'fast' is not one of its values (count|time|trace).\n");
  EXPECT_EQ(run({"report", "--top", "x", "y"}), 2);
  EXPECT_EQ(errors_.str(), "hitchtrace: --top: 'x' is not a number.\n");
  EXPECT_EQ(run({"report", "--budget=-1", "y"}), 2);
  EXPECT_EQ(errors_.str(), "hitchtrace: --budget: '-1' is not a number above 0.\n");
  EXPECT_EQ(run({"report", "--group", "colour", "y"}), 2);
  EXPECT_EQ(errors_.str(),
            "hitchtrace: --group: 'colour' is none of entry, function, file, module, caller and "
            "stack.\n");
  EXPECT_EQ(run({"report", "--color", "pink", "y"}), 2);
  EXPECT_EQ(errors_.str(), "hitchtrace: --color: 'pink' is neither auto, always nor never.\n");
}

TEST_F(CommandLineTest, AsksForWhatIsMissing) {
  EXPECT_EQ(run({"run"}), 125);
  EXPECT_THAT(errors_.str(), HasSubstr("which game?"));
  EXPECT_EQ(run({"run", "--level", "count", "--"}), 125);
  EXPECT_EQ(run({"report"}), 2);
  EXPECT_THAT(errors_.str(), HasSubstr("TRACE is required"));
}

TEST_F(CommandLineTest, ExplainsItselfWithoutWords) {
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(errors_.str(), HasSubstr("Usage: hitchtrace COMMAND"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandLineTest, HelpsOnStandardOutput) {
  for (const std::string name : {"run", "report", "dump", "recover"}) {
    EXPECT_EQ(run({name, "--help"}), 0) << name;
    EXPECT_THAT(out_.str(), HasSubstr("Usage: hitchtrace " + name));
    const std::string help = out_.str();
    EXPECT_EQ(run({"help", name}), 0);
    EXPECT_EQ(out_.str(), help);
  }
}

TEST_F(CommandLineTest, HelpKeepsToEightyColumns) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"run", "--help"}, {"report", "--help"}}) {
    ASSERT_EQ(run(words), 0);
    std::istringstream lines(out_.str());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(CommandLineTest, OffersEveryRowOfTheOptionsTable) {
  ASSERT_EQ(run({"run", "--help"}), 0);
  for (std::size_t i = 0; i < config::kOptionCount; ++i)
    EXPECT_THAT(out_.str(), HasSubstr(config::kOptionRows[i].flag));
}

TEST_F(CommandLineTest, LeavesTheGamesOwnOptionsAlone) {
  EXPECT_EQ(run({"run", "/nowhere/game", "--levle"}), 127);
  EXPECT_THAT(errors_.str(), HasSubstr("/nowhere/game: no such file"));
  EXPECT_EQ(run({"run", "--level", "count", "--no-hook-sleep", "-o", "x", "--", "/nowhere/game",
                 "--help"}),
            127);
  EXPECT_EQ(run({"run", "--level=count", "-ox", "/nowhere/game", "--", "--help"}), 127);
}

TEST_F(CommandLineTest, PrintsItsVersion) {
  for (const std::string word : {"version", "--version", "-V"}) {
    EXPECT_EQ(run({word}), 0);
    EXPECT_THAT(out_.str(),
                MatchesRegex("hitchtrace [0-9.]+ \\(trace format [0-9]+\\.[0-9]+\\)\n"));
  }
}

TEST_F(CommandLineTest, SaysWhichTraceCannotBeRead) {
  for (const std::string name : {"report", "dump", "recover"}) {
    EXPECT_EQ(run({name, "/nowhere/x.hitch"}), 1) << name;
    EXPECT_THAT(errors_.str(), HasSubstr("/nowhere/x.hitch")) << name;
    EXPECT_EQ(out_.str(), "") << name;
  }
}

}  // namespace
}  // namespace hitch::app
