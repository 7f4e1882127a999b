#include "common/count_of.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

TEST(CountOf, TheNounFollowsTheCount) {
  EXPECT_EQ(count_of(0, "image"), "0 images");
  EXPECT_EQ(count_of(1, "image"), "1 image");
  EXPECT_EQ(count_of(2, "image"), "2 images");
  EXPECT_EQ(count_of(1, "class", "classes"), "1 class");
  EXPECT_EQ(count_of(3, "machine holds", "machines hold"), "3 machines hold");
}

}  // namespace
}  // namespace winnow
