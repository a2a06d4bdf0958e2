#include "viewer/app/recorder_status.h"

#include <gtest/gtest.h>

namespace hitch::app {
namespace {

TEST(StatusParser, TakesEveryKindOfLine) {
  StatusParser parser;
  parser.feed(
      "connected 41 /usr/games/my game\nignored 42 /bin/sh\ntrace /tmp/a b.hitch\n"
      "note the disk is full\nexit 7\n");
  const RecorderStatus& status = parser.status();
  ASSERT_EQ(status.connected.size(), 1u);
  EXPECT_EQ(status.connected[0].pid, 41);
  EXPECT_EQ(status.connected[0].exe, "/usr/games/my game");
  ASSERT_EQ(status.ignored.size(), 1u);
  EXPECT_EQ(status.ignored[0].exe, "/bin/sh");
  EXPECT_EQ(status.traces, std::vector<std::string>{"/tmp/a b.hitch"});
  EXPECT_EQ(status.notes, std::vector<std::string>{"the disk is full"});
  EXPECT_EQ(status.exit_code, 7);
  EXPECT_TRUE(status.game_ended());
}

TEST(StatusParser, TakesLinesInPieces) {
  StatusParser parser;
  for (const char c : std::string("trace /tmp/x\nsignal 11\nexec-failed 2\n"))
    parser.feed(std::string(1, c));
  EXPECT_EQ(parser.status().traces.size(), 1u);
  EXPECT_EQ(parser.status().killed_by, 11);
  EXPECT_EQ(parser.status().exec_error, 2);
}

TEST(StatusParser, WaitsForTheEndOfALine) {
  StatusParser parser;
  parser.feed("exit 1");
  EXPECT_FALSE(parser.status().game_ended());
  parser.feed("2\n");
  EXPECT_EQ(parser.status().exit_code, 12);
}

TEST(StatusParser, SkipsWhatItDoesNotKnow) {
  StatusParser parser;
  parser.feed("\n\nfuture word\nexit\nexit x\nconnected\nconnected x y\ntrace\n");
  EXPECT_FALSE(parser.status().game_ended());
  EXPECT_TRUE(parser.status().connected.empty());
  EXPECT_TRUE(parser.status().traces.empty());
}

TEST(StatusParser, ForgetsALineWithoutEnd) {
  StatusParser parser;
  for (int i = 0; i < 100; ++i) parser.feed(std::string(4096, 'x'));
  parser.feed("\nexit 3\n");
  EXPECT_EQ(parser.status().exit_code, 3);
}

}  // namespace
}  // namespace hitch::app
