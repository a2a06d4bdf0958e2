#include <gtest/gtest.h>

#include "session/deny_list.h"

namespace hitch::session {
namespace {

TEST(DenyList, ShellsLaunchersAndHelpersAreNotGames) {
  for (const char* name :
       {"sh", "bash", "env", "timeout", "python3", "python3.11", "steam", "pv-bwrap",
        "pressure-vessel-wrap", "reaper", "xdg-open", "hitchtrace-record"}) {
    EXPECT_TRUE(is_wrapper(name)) << name;
  }
  for (const char* name :
       {"supertux2", "game", "shadow", "envy", "timeouts", "pythonic-quest", "steamworld"}) {
    EXPECT_FALSE(is_wrapper(name)) << name;
  }
}

TEST(DenyList, WildcardsMatchTheWholeName) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("super*", "supertuxkart"));
  EXPECT_TRUE(matches("*kart", "supertuxkart"));
  EXPECT_TRUE(matches("s*t?x*t", "supertuxkart"));
  EXPECT_FALSE(matches("super", "supertux"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_FALSE(matches("a*b", "acbd"));
}

TEST(DenyList, ChromiumHelpersAreKnownByTheirArguments) {
  const char helper[] = "cef\0--type=renderer\0--x";
  const char browser[] = "cef\0--mytype=1\0";
  EXPECT_TRUE(is_helper(helper, sizeof helper));
  EXPECT_FALSE(is_helper(browser, sizeof browser));
  EXPECT_FALSE(is_helper("", 0));
}

}  // namespace
}  // namespace hitch::session
