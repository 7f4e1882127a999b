// Whitened features have the properties they should: uncorrelated, with the cosines of any
// whitening.
#include "dedup/features/whiten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <string>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::dedup::whiten_test {

constexpr std::size_t kDimensions = 5;

FeatureTable table_of(const std::vector<std::vector<float>>& vectors) {
  FeatureTable table = empty_features(FeatureType::kF16, vectors.front().size());
  SampleId id = 3;
  for (const auto& vector : vectors) append_feature(table, id += 2, vector);
  return table;
}

// Dimensions that are correlated with the previous one and far from 0.
std::vector<std::vector<float>> correlated(std::size_t rows) {
  std::vector<std::vector<float>> vectors;
  for (std::size_t row = 0; row < rows; ++row) {
    CounterRng rng(4, 0, row, RandomUse::kTest);
    std::vector<float> vector(kDimensions);
    double before = 0;
    for (float& number : vector) {
      before = 0.9 * before + 2 * rng.uniform() - 1;
      number = static_cast<float>(10 + before);
    }
    vectors.push_back(vector);
  }
  return vectors;
}

TEST(Whitened, IsUncorrelatedOfVarianceOneAndMeanZero) {
  const FeatureTable table = whitened(table_of(correlated(4000)));
  ASSERT_EQ(table.size(), 4000U);
  std::vector<double> mean(kDimensions);
  std::vector<std::vector<double>> products(kDimensions, std::vector<double>(kDimensions));
  std::vector<float> x(kDimensions);
  for (std::size_t row = 0; row < table.size(); ++row) {
    table.read(row, x);
    for (std::size_t i = 0; i < kDimensions; ++i) {
      mean[i] += double{x[i]} / 4000;
      for (std::size_t j = 0; j < kDimensions; ++j) {
        products[i][j] += double{x[i]} * double{x[j]} / 4000;
      }
    }
  }
  for (std::size_t i = 0; i < kDimensions; ++i) {
    EXPECT_NEAR(mean[i], 0, 1e-3);
    for (std::size_t j = 0; j < kDimensions; ++j) {
      EXPECT_NEAR(products[i][j], i == j ? 1 : 0, 2e-3) << i << " " << j;
    }
  }
}

TEST(Whitened, HasTheSameBitsForAnyNumberOfThreads) {
  const FeatureTable table = table_of(correlated(5000));
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const FeatureTable alone = whitened(table);
  const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
  EXPECT_EQ(whitened(table), alone);
  EXPECT_EQ(alone.ids, table.ids);
}

// Scaling a dimension, or adding a constant, changes nothing.
TEST(Whitened, DoesNotDependOnUnits) {
  std::vector<std::vector<float>> vectors = correlated(600);
  const FeatureTable before = whitened(table_of(vectors));
  for (auto& vector : vectors) vector[2] = 8 * vector[2] - 64;
  const FeatureTable after = whitened(table_of(vectors));
  std::vector<float> x(kDimensions);
  std::vector<float> y(kDimensions);
  for (std::size_t row = 0; row < 600; ++row) {
    before.read(row, x);
    after.read(row, y);
    for (std::size_t i = 0; i < kDimensions; ++i) EXPECT_NEAR(x[i], y[i], 0.06);
  }
}

// A dimension that is the same for all images has no variance to divide by.
TEST(Whitened, BearsNumbersThatSayNothing) {
  std::vector<std::vector<float>> vectors = correlated(200);
  for (auto& vector : vectors) vector[1] = 7;
  const FeatureTable table = whitened(table_of(vectors));
  EXPECT_EQ(table.size(), 200U);
  std::vector<float> x(kDimensions);
  table.read(17, x);
  for (const float number : x) EXPECT_TRUE(std::isfinite(number));
  EXPECT_NEAR(x[1], 0, 1e-2);
}

TEST(Whitened, RefusesWhatItCannotDo) {
  const auto refusal = [](const FeatureTable& table, const std::string& words) {
    EXPECT_THAT([&] { whitened(table); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr(words)));
  };
  refusal(table_of(correlated(9)), "9 images are too few to whiten vectors of 5 dimensions");
  refusal(empty_features(FeatureType::kI8, kMostWhitened + 1), "too long to whiten");
  refusal(table_of({20, {1, 2, 3}}), "all vectors are equal");
}

}  // namespace winnow::dedup::whiten_test
