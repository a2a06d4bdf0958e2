#include <gtest/gtest.h>

#include "recorder/frames/present_picker.h"

namespace hitch::frames {
namespace {

using format::Api;

TEST(PresentPicker, ASplashWindowsFewPresentsGiveWayToTheGame) {
  PresentPicker picker;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(picker.is_boundary(1, Api::kSdl));
  int refused = 0;
  for (int i = 0; i < 100; ++i) refused += picker.is_boundary(2, Api::kGlx) ? 0 : 1;
  EXPECT_LT(refused, 12);
}

TEST(PresentPicker, TwoWindowsThatAlternateDoNotChangePlaces) {
  PresentPicker picker;
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(picker.is_boundary(1, Api::kGlx));
    EXPECT_FALSE(picker.is_boundary(1, Api::kEgl));
  }
}

TEST(PresentPicker, MarksEndTheSearch) {
  PresentPicker picker;
  EXPECT_TRUE(picker.is_boundary(1, Api::kGlx));
  EXPECT_TRUE(picker.is_boundary(1, Api::kMark));
  for (int i = 0; i < 500; ++i) EXPECT_FALSE(picker.is_boundary(1, Api::kGlx));
  EXPECT_TRUE(picker.is_boundary(1, Api::kMark));
}

}  // namespace
}  // namespace hitch::frames
