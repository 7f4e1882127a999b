#include "train/model/whitening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::train::whitening_test {

using Row = std::vector<double>;

constexpr float kMean[] = {0.4F, 0.5F, 0.3F};
constexpr float kDeviation[] = {0.2F, 0.25F, 0.3F};

// Neighbouring pixels are similar, as in photos. One channel nearly repeats another.
std::vector<std::uint8_t> picture(int side, int channels, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      for (int c = 0; c < channels; ++c) {
        const double smooth = 128 + 90 * std::sin(0.3 * x + 0.2 * y + (c == 1 ? 1.0 : 0.0));
        pixels.push_back(static_cast<std::uint8_t>(smooth + 12 * rng.uniform()));
      }
    }
  }
  return pixels;
}

// All patches of an image, normalised, in the order of a filter.
std::vector<Row> patches_of(const std::vector<std::uint8_t>& pixels, int side, int channels) {
  std::vector<Row> patches;
  for (int y = 0; y + 1 < side; ++y) {
    for (int x = 0; x + 1 < side; ++x) {
      Row& patch = patches.emplace_back();
      for (int c = 0; c < channels; ++c) {
        for (const int at :
             {y * side + x, y * side + x + 1, (y + 1) * side + x, (y + 1) * side + x + 1}) {
          const double pixel = pixels[static_cast<std::size_t>(at * channels + c)] / 255.0;
          patch.push_back((pixel - double{kMean[c]}) / double{kDeviation[c]});
        }
      }
    }
  }
  return patches;
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Whitening : public testing::TestWithParam<int> {};

// The definition of a row w = e / sqrt(l + epsilon): it is an eigenvector of the second moments M,
// and |w|^2 = 1 / (l + epsilon). Eigenvectors of a symmetric matrix are orthogonal.
TEST_P(Whitening, RowsAreScaledEigenvectorsLargestFirst) {
  const int channels = GetParam();
  const std::size_t d = static_cast<std::size_t>(channels) * 4;
  PatchSums sums(channels, 2);
  std::vector<Row> patches;
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto pixels = picture(12, channels, seed);
    sums.add(pixels, 12, 12);
    for (Row& patch : patches_of(pixels, 12, channels)) patches.push_back(std::move(patch));
  }
  EXPECT_EQ(sums.count(), patches.size());
  constexpr double kEpsilon = 5e-4;
  const std::vector<float> filters =
      whitening_filters(sums, {.mean = kMean, .stddev = kDeviation, .epsilon = kEpsilon});
  ASSERT_EQ(filters.size(), 2 * d * d);

  std::vector<Row> moments(d, Row(d));
  for (const Row& patch : patches) {
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        moments[i][j] += patch[i] * patch[j] / static_cast<double>(patches.size());
      }
    }
  }
  double before = INFINITY;
  for (std::size_t k = 0; k < d; ++k) {
    const Row w(filters.begin() + static_cast<std::ptrdiff_t>(k * d),
                filters.begin() + static_cast<std::ptrdiff_t>((k + 1) * d));
    const double length = std::sqrt(dot(w, w));
    Row image;
    for (const Row& row : moments) image.push_back(dot(row, w));
    const double value = dot(w, image) / (length * length);
    EXPECT_LE(value, before + 1e-9);
    before = value;
    EXPECT_NEAR(1 / (length * length), value + kEpsilon, 1e-5 * (value + kEpsilon)) << k;
    for (std::size_t i = 0; i < d; ++i) {
      EXPECT_NEAR(image[i] / length, value * w[i] / length, 1e-5) << k;
      EXPECT_EQ(filters[(d + k) * d + i], -filters[k * d + i]);
    }
    EXPECT_GE(*std::ranges::max_element(w), -*std::ranges::min_element(w));
    for (std::size_t other = 0; other < k; ++other) {
      const Row u(filters.begin() + static_cast<std::ptrdiff_t>(other * d),
                  filters.begin() + static_cast<std::ptrdiff_t>((other + 1) * d));
      EXPECT_NEAR(dot(u, w), 0, 1e-5 * length * std::sqrt(dot(u, u)));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(ColourAndGrey, Whitening, testing::Values(3, 1));

TEST(WhiteningFilters, DependOnNoOrderOfImages) {
  PatchSums there(3, 2);
  PatchSums back(3, 2);
  for (const int seed : {1, 2, 3, 4}) {
    there.add(picture(9, 3, static_cast<std::uint64_t>(seed)), 9, 9);
    back.add(picture(9, 3, static_cast<std::uint64_t>(5 - seed)), 9, 9);
  }
  const WhiteningOptions options{.mean = kMean, .stddev = kDeviation};
  EXPECT_EQ(whitening_filters(there, options), whitening_filters(back, options));
}

// All second moments lie in one direction: the other filters depend on epsilon alone.
TEST(WhiteningFilters, BearImagesOfOneValueAndRefuseNone) {
  PatchSums sums(1, 2);
  const WhiteningOptions options{.mean = std::span(kMean).first(1),
                                 .stddev = std::span(kDeviation).first(1)};
  sums.add(std::vector<std::uint8_t>(1, 7), 1, 1);  // too small for a patch
  EXPECT_THROW(whitening_filters(sums, options), Error);
  sums.add(std::vector<std::uint8_t>(16, 7), 4, 4);
  for (const float number : whitening_filters(sums, options)) EXPECT_TRUE(std::isfinite(number));
}

}  // namespace winnow::train::whitening_test
