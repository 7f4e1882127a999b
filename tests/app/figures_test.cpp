#include "app/experiment/figures.h"

#include <gtest/gtest.h>

namespace winnow::app::figures_test {
namespace {

const PairedDifference kAlone{.mean = 0.0012};
const PairedDifference kWithin{.mean = -0.0012, .interval = Interval{-0.003, 0.0054}};

TEST(Figures, AMeanIsOfWhatThereIs) {
  EXPECT_EQ(mean_of({}), std::nullopt);
  EXPECT_EQ(mean_of({std::nullopt}), std::nullopt);
  EXPECT_EQ(mean_of({0.5, std::nullopt, 0.25}), 0.375);
  EXPECT_EQ(mean_in_percent({0.5, std::nullopt, 0.25}), "37.50 %");
  EXPECT_EQ(mean_in_percent({std::nullopt}), "");
  EXPECT_EQ(mean_in_percent({}, "no run"), "no run");
}

TEST(Figures, AnAccuracyHasItsDeviationWhereThatIsKnown) {
  EXPECT_EQ(accuracy_in_words(0.93214, 0.0012), "93.21 % ± 0.12");
  EXPECT_EQ(accuracy_in_words(0.93214, std::nullopt), "93.21 %");
}

TEST(Figures, ADifferenceIsInPoints) {
  EXPECT_EQ(in_points(kAlone), "+0.12");
  EXPECT_EQ(in_points(kWithin), "-0.12, -0.30 to +0.54");
  EXPECT_EQ(points_html(kAlone), "+0.12");
  EXPECT_EQ(points_html(kWithin), "-0.12 (-0.30 to +0.54)");
  EXPECT_EQ(points_html(std::nullopt), "");
}

TEST(Figures, WhatIsNotThereIsEmptyAndNull) {
  EXPECT_EQ(exactly(0.1), "0.1");
  EXPECT_EQ(exactly(std::nullopt), "");
  EXPECT_EQ(json_of(kWithin).dump(), R"({"mean":-0.0012,"least":-0.003,"most":0.0054})");
  EXPECT_EQ(json_of(kAlone).dump(), R"({"mean":0.0012,"least":null,"most":null})");
  EXPECT_EQ(json_of(std::nullopt).dump(), "null");
}

}  // namespace
}  // namespace winnow::app::figures_test
