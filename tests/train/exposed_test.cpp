#include "train/step/exposed.h"

#include <gtest/gtest.h>

#include <optional>

namespace winnow::train::exposed_test {

using std::chrono::milliseconds;
constexpr std::chrono::steady_clock::time_point kBegin{std::chrono::hours(1)};

TEST(Exposed, IsLateUntilAllCameThenAdditionThenWire) {
  const ExposedSeconds split =
      split_exposed(kBegin, kBegin + milliseconds(100), kBegin + milliseconds(30), 0.02);
  EXPECT_DOUBLE_EQ(split.late, 0.03);
  EXPECT_DOUBLE_EQ(split.addition, 0.02);
  EXPECT_DOUBLE_EQ(split.wire, 0.05);
  EXPECT_DOUBLE_EQ(split.total(), 0.1);
}

TEST(Exposed, NobodyIsLateWhoCameBefore) {
  const ExposedSeconds split =
      split_exposed(kBegin, kBegin + milliseconds(10), kBegin - milliseconds(30), 0);
  EXPECT_EQ(split.late, 0);
  EXPECT_DOUBLE_EQ(split.wire, 0.01);
}

TEST(Exposed, AllIsLateWhereNotAllHadComeAtTheEnd) {
  for (const auto came : {std::optional(kBegin + milliseconds(11)), {}}) {
    const ExposedSeconds split = split_exposed(kBegin, kBegin + milliseconds(10), came, 0.005);
    EXPECT_DOUBLE_EQ(split.late, 0.01);
    EXPECT_EQ(split.wire, 0);
    EXPECT_EQ(split.addition, 0);
  }
}

TEST(Exposed, AdditionsBeforeAllCameAreNotCountedTwice) {
  const ExposedSeconds split =
      split_exposed(kBegin, kBegin + milliseconds(10), kBegin + milliseconds(8), 0.005);
  EXPECT_DOUBLE_EQ(split.addition, 0.002);
  EXPECT_DOUBLE_EQ(split.total(), 0.01);
}

TEST(Exposed, AddsUp) {
  ExposedSeconds sum{.late = 1, .wire = 2, .addition = 3};
  sum += {.late = 10, .wire = 20, .addition = 30};
  EXPECT_EQ(sum.late, 11);
  EXPECT_EQ(sum.wire, 22);
  EXPECT_EQ(sum.addition, 33);
}

}  // namespace winnow::train::exposed_test
