// With the libraries of fake_driver.cpp in the place of NVIDIA's.

#include "train/run/rank_temperature.h"

#include <gtest/gtest.h>

namespace winnow::train {
namespace {

TEST(Thermometer, ReadsTheCardOfTheRankWhichCountsAgainBehindTheLast) {
  EXPECT_EQ(open_thermometer(0)(), 40);
  EXPECT_EQ(open_thermometer(1)(), 41);
  EXPECT_EQ(open_thermometer(4)(), 41);
}

TEST(Thermometer, HasNothingOfACardThatDoesNotSay) {
  EXPECT_EQ(open_thermometer(2)(), std::nullopt);
}

TEST(Thermometer, SeveralAreOpenAtOnceAndOutliveTheirCopies) {
  const Thermometer first = open_thermometer(0);
  {
    const Thermometer second = first;
    open_thermometer(1)();
  }
  EXPECT_EQ(first(), 40);
}

}  // namespace
}  // namespace winnow::train
