#include "common/counted.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

TEST(Counted, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(Counted, NounsHaveTheNumberOfTheirCount) {
  EXPECT_EQ(count_of(0, "image"), "0 images");
  EXPECT_EQ(count_of(1, "image"), "1 image");
  EXPECT_EQ(count_of(12'345, "image"), "12,345 images");
  EXPECT_EQ(count_of(1, "class", "classes"), "1 class");
  EXPECT_EQ(count_of(2, "image is", "images are"), "2 images are");
}

}  // namespace
}  // namespace winnow
