#include "train/evaluate/average_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

namespace winnow::train::average_precision_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

pipeline::SampleLabels labels_of(const std::vector<std::vector<std::int32_t>>& samples) {
  pipeline::SampleLabels labels{.offsets = {0}, .labels = {}};
  for (const auto& of_sample : samples) {
    labels.labels.insert(labels.labels.end(), of_sample.begin(), of_sample.end());
    labels.offsets.push_back(static_cast<std::uint32_t>(labels.labels.size()));
  }
  return labels;
}

// By definition: the sum over thresholds, from the highest down, of the gain in recall times the
// precision. Both are counted anew at each threshold.
double by_thresholds(const std::vector<float>& logits, const std::vector<bool>& positive) {
  const std::set<float, std::greater<>> thresholds(logits.begin(), logits.end());
  double sum = 0;
  double before = 0;
  double all = 0;
  for (const bool is_positive : positive) all += is_positive ? 1 : 0;
  for (const float threshold : thresholds) {
    double hits = 0;
    double taken = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] < threshold) continue;
      taken += 1;
      hits += positive[i] ? 1 : 0;
    }
    sum += (hits / all - before) * (hits / taken);
    before = hits / all;
  }
  return sum;
}

TEST(AveragePrecision, WorkedOutByHand) {
  // Class 0: right, wrong, right: (1/1 + 2/3) / 2. Class 1: only the last. Class 2: no sample.
  const std::vector<float> logits{3, 9, 0, /**/ 2, 8, 0, /**/ 1, 7, 0};
  const auto found = average_precisions(logits, labels_of({{0}, {}, {0, 1}}), 3);
  EXPECT_THAT(found, ElementsAre(Optional(DoubleNear(5.0 / 6, 1e-15)),
                                 Optional(DoubleNear(1.0 / 3, 1e-15)), Eq(std::nullopt)));
  EXPECT_THAT(mean_of(found), Optional(DoubleNear(7.0 / 12, 1e-15)));
  EXPECT_EQ(mean_of({}), std::nullopt);
}

TEST(AveragePrecision, EqualLogitsComeInTogether) {
  const auto labels = labels_of({{0}, {}, {0}, {}});
  EXPECT_THAT(average_precisions(std::vector<float>{1, 1, 1, 1}, labels, 1),
              ElementsAre(Optional(0.5)));
  EXPECT_THAT(average_precisions(std::vector<float>{1, 1, 0, 0}, labels, 1),
              ElementsAre(Optional(0.5)));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(average_precisions(std::vector<float>{HUGE_VALF, 2, 1, -HUGE_VALF}, labels, 1),
              average_precisions(std::vector<float>{nan, 2, 1, nan}, labels, 1));
  EXPECT_THAT(average_precisions(std::vector<float>{nan, 2, 1, nan}, labels, 1),
              ElementsAre(Optional(0.5)));
}

TEST(AveragePrecision, AsItsDefinitionOnRandomSets) {
  std::mt19937 random(7);
  constexpr std::size_t kClasses = 3;
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 40;
    std::vector<std::vector<std::int32_t>> samples(count);
    std::vector<float> logits;
    for (auto& labels : samples) {
      for (std::size_t k = 0; k < kClasses; ++k) {
        if (random() % 3 == 0) labels.push_back(static_cast<std::int32_t>(k));
        logits.push_back(static_cast<float>(random() % 12) - 6);  // many ties
      }
    }
    const auto found = average_precisions(logits, labels_of(samples), kClasses);
    for (std::size_t k = 0; k < kClasses; ++k) {
      std::vector<float> own;
      std::vector<bool> positive;
      for (std::size_t i = 0; i < count; ++i) {
        own.push_back(logits[i * kClasses + k]);
        positive.push_back(testing::Value(samples[i], testing::Contains(static_cast<int>(k))));
      }
      if (!testing::Value(positive, testing::Contains(true))) {
        EXPECT_EQ(found[k], std::nullopt);
      } else {
        EXPECT_THAT(found[k], Optional(DoubleNear(by_thresholds(own, positive), 1e-12)));
      }
    }
  }
}

}  // namespace winnow::train::average_precision_test
