#include "viewer/render/page.h"

#include <gtest/gtest.h>

namespace hitch::render {
namespace {

TEST(Page, WrapsAtTheWidthAndIndents) {
  Page page({false, false, 20});
  page.wrap(2, 4, "one two three four five six");
  EXPECT_EQ(page.text(), "  one two three four\n    five six\n");
  EXPECT_EQ(page.lines(), 2u);
}

TEST(Page, LongWordsStandAloneAndAreCutToTheWidth) {
  Page page({false, false, 10});
  page.wrap(0, 0, "a verylongwordindeed b");
  EXPECT_EQ(page.text(), "a\nverylong..\nb\n");
}

TEST(Page, PaintsOnlyInColour) {
  EXPECT_EQ(Page({false, false, 80}).paint(Ink::kRed, "x"), "x");
  EXPECT_EQ(Page({true, false, 80}).paint(Ink::kRed, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(columns_of("\x1b[31mx\x1b[0m"), 1u);
}

TEST(Page, ColumnsAreCodePoints) {
  EXPECT_EQ(columns_of("▁▂█"), 3u);
  EXPECT_EQ(pad_right("ä", 3), "ä  ");
  EXPECT_EQ(pad_left("ä", 3), "  ä");
}

TEST(Fit, KeepsBothEndsOfLongNames) {
  EXPECT_EQ(fit("short", 10), "short");
  const std::string cut = fit("engine::world::terrain::Chunk::rebuild_mesh_and_upload", 30);
  EXPECT_EQ(columns_of(cut), 30u);
  EXPECT_EQ(cut.substr(0, 14), "engine::world:");
  EXPECT_EQ(cut.substr(cut.size() - 6), "upload");
  EXPECT_EQ(fit("äöüäöüäöü", 5), "äöü..");
}

TEST(Printable, NothingOfTheGameReachesTheTerminalRaw) {
  EXPECT_EQ(printable("a\x1b[31mb\nc"), "a [31mb c");
  EXPECT_EQ(printable("\xff\xfe ok \xc3\xa4"), "?? ok ä");
  EXPECT_EQ(printable("\xe2\x96"), "??");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m")
      << "C1 control sequences";
}

}  // namespace
}  // namespace hitch::render
