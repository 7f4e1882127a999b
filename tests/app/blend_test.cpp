#include "app/predict/blend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/predict/windows.h"
#include "common/rng.h"

namespace winnow::app::blend_test {

// The result for a picture of one channel if each window returns its own pixels.
std::vector<float> through_windows(const std::vector<float>& picture, const Extent& side,
                                   const Extent& window, double overlap) {
  BlendedMean mean(side, {1, 1, 1}, window, 1);
  std::array<std::vector<std::int64_t>, 3> starts;
  for (std::size_t axis = 0; axis < side.size(); ++axis) {
    starts[axis] = window_starts(side[axis], window[axis], stride_of(window[axis], overlap));
  }
  for (const std::int64_t z : starts[0]) {
    for (const std::int64_t y : starts[1]) {
      for (const std::int64_t x : starts[2]) {
        mean.add_pixels({z, y, x}, [&](const Extent& pixel) {
          const std::int64_t at =
              ((z + pixel[0]) * side[1] + y + pixel[1]) * side[2] + x + pixel[2];
          return std::span(picture).subspan(static_cast<std::size_t>(at), 1);
        });
      }
    }
  }
  return mean.mean();
}

std::vector<float> some_picture(const Extent& side) {
  CounterRng random(7, 0, static_cast<std::uint64_t>(side[1] * 1009 + side[2]),
                    RandomUse::kDropout);
  std::vector<float> picture(static_cast<std::size_t>(side[0] * side[1] * side[2]));
  for (float& value : picture) value = static_cast<float>(random.next_u64() % 1000) / 1000;
  return picture;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    largest = std::isnan(difference) ? 1 : std::max(largest, difference);
  }
  return largest;
}

constexpr std::array kOverlaps{0.0, 0.3, 0.5, 0.75, 0.9};

TEST(Blend, AnAxisOfAnyLengthComesBackThroughWindowsOfAnySize) {
  std::vector<std::int64_t> sides;
  for (std::int64_t side = 1; side <= 1000; side += 1 + side / 8) sides.push_back(side);
  sides.push_back(1000);
  for (const std::int64_t side : sides) {
    const Extent extent{1, 1, side};
    const std::vector<float> picture = some_picture(extent);
    for (const std::int64_t window :
         {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 127, 150, 199, 223, 224}) {
      for (const double overlap : kOverlaps) {
        EXPECT_LT(
            largest_difference(picture, through_windows(picture, extent, {1, 1, window}, overlap)),
            1e-6)
            << side << " px, windows of " << window << ", overlap " << overlap;
      }
    }
  }
}

TEST(Blend, PicturesComeBackInTwoAndThreeDimensions) {
  for (const Extent side : {Extent{1, 1, 1}, Extent{1, 67, 131}, Extent{1, 224, 40},
                            Extent{5, 17, 23}, Extent{1, 300, 2}, Extent{9, 8, 7}}) {
    const std::vector<float> picture = some_picture(side);
    for (const Extent window : {Extent{1, 1, 1}, Extent{1, 32, 32}, Extent{4, 8, 16}}) {
      for (const double overlap : kOverlaps) {
        // There would be a window for each pixel
        if (window[1] == 1 && side[1] * side[2] > 2000) continue;
        EXPECT_LT(largest_difference(picture, through_windows(picture, side, window, overlap)),
                  1e-6);
      }
    }
  }
}

TEST(Blend, WeightsLieInTheirRangeAndFallToTheEdges) {
  for (const std::int64_t side : {1, 2, 3, 4, 7, 64, 224}) {
    for (const Extent window : {Extent{1, side, side}, Extent{side, 3, 5}, Extent{1, 1, side}}) {
      const BumpWeights weights(window);
      double least = 2;
      double most = 0;
      for (std::int64_t z = 0; z < window[0]; ++z) {
        for (std::int64_t y = 0; y < window[1]; ++y) {
          for (std::int64_t x = 0; x < window[2]; ++x) {
            least = std::min(least, weights.at(z, y, x));
            most = std::max(most, weights.at(z, y, x));
          }
        }
      }
      EXPECT_GE(least, 1e-6);
      EXPECT_LE(most, 1);
      EXPECT_DOUBLE_EQ(weights.at(window[0] / 2, window[1] / 2, window[2] / 2), most);
      EXPECT_DOUBLE_EQ(weights.at(0, 0, 0), least);
      if (least < most) {
        EXPECT_NEAR(least, 1e-6, 1e-12);
      }
    }
  }
  EXPECT_EQ(BumpWeights({1, 1, 2}).at(0, 0, 1), 1);  // all weights are equal
}

TEST(Blend, WhatNoWindowCoveredIsNoNumber) {
  BlendedMean mean({1, 4, 10}, {1, 1, 1}, {1, 4, 4}, 2);
  const std::vector<float> values{0.25F, 0.75F};
  mean.add({0, 0, 6}, values);
  const std::vector<float> means = mean.mean();
  for (std::size_t x = 0; x < 10; ++x) {
    EXPECT_EQ(std::isnan(means[2 * x]), x < 6);
    if (x < 6) continue;
    EXPECT_THAT(std::vector(means.begin() + 2 * x, means.begin() + 2 * x + 2), values);
  }
}

TEST(Blend, PointsLieInTheMiddleOfTheirCells) {
  // Each window returns the positions of its pixels.
  const Extent side{1, 1, 30};
  BlendedMean mean(side, {1, 1, 7}, {1, 1, 30}, 1);
  EXPECT_EQ(mean.points(), (Extent{1, 1, 5}));
  std::vector<float> places(30);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i);
  mean.add_pixels({0, 0, 0}, [&](const Extent& pixel) {
    return std::span(places).subspan(static_cast<std::size_t>(pixel[2]), 1);
  });
  EXPECT_THAT(mean.mean(), ::testing::ElementsAre(3, 10, 17, 24, 29));
  EXPECT_EQ(BlendedMean::bytes_of(side, {1, 1, 7}, 1), 5U * 20);
}

TEST(Windows, CoverAnAxisAndEndWithIt) {
  using ::testing::ElementsAre;
  EXPECT_THAT(window_starts(10, 4, 2), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(window_starts(11, 4, 2), ElementsAre(0, 2, 4, 6, 7));
  EXPECT_THAT(window_starts(4, 4, 2), ElementsAre(0));
  EXPECT_THAT(window_starts(1, 4, 2), ElementsAre(0));
  EXPECT_EQ(stride_of(224, 0.5), 112);
  EXPECT_EQ(stride_of(1, 0.9), 1);
  EXPECT_EQ(stride_of(4, 0.99), 1);
  for (std::int64_t side = 1; side < 300; side += 7) {
    for (const double overlap : kOverlaps) {
      const auto starts = window_starts(side, 32, stride_of(32, overlap));
      EXPECT_EQ(starts.front(), 0);
      EXPECT_EQ(starts.back(), std::max<std::int64_t>(0, side - 32));
      for (std::size_t i = 1; i < starts.size(); ++i) {
        EXPECT_GT(starts[i], starts[i - 1]);
        EXPECT_LE(starts[i] - starts[i - 1], stride_of(32, overlap));
      }
    }
  }
}

}  // namespace winnow::app::blend_test
