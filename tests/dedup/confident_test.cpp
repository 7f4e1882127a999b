#include "dedup/labels/confident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"

namespace winnow::dedup::confident_test {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

struct Drawn {
  std::vector<float> probabilities;
  std::vector<std::int32_t> labels;
  std::size_t classes;

  JudgedLabels judged() const { return {probabilities, labels, classes}; }
};

// Knuth's MMIX generator, which Python can reproduce in five lines.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  double next() {
    state_ = 6364136223846793005U * state_ + 1442695040888963407U;
    return static_cast<double>(state_ >> 40) / (1 << 24);
  }

 private:
  std::uint64_t state_;
};

// Draws images whose true class has a larger weight on average. A share `noise` of the labels is
// wrong.
Drawn draw(std::size_t images, std::size_t classes, double noise, std::uint64_t seed) {
  Numbers numbers(seed);
  Drawn drawn{{}, {}, classes};
  const auto k = static_cast<double>(classes);
  for (std::size_t i = 0; i < images; ++i) {
    const auto truth = static_cast<std::size_t>(numbers.next() * k);
    std::size_t label = truth;
    if (numbers.next() < noise) {
      label = (truth + 1 + static_cast<std::size_t>(numbers.next() * (k - 1))) % classes;
    }
    std::vector<double> weights(classes);
    double sum = 0;
    for (double& weight : weights) weight = numbers.next();
    weights[truth] += 2 * numbers.next();
    for (const double weight : weights) sum += weight;
    for (const double weight : weights) {
      drawn.probabilities.push_back(static_cast<float>(weight / sum));
    }
    drawn.labels.push_back(static_cast<std::int32_t>(label));
  }
  return drawn;
}

std::vector<std::uint32_t> images_of(const std::vector<LabelSuspect>& suspects) {
  std::vector<std::uint32_t> images;
  for (const LabelSuspect& suspect : suspects) images.push_back(suspect.image);
  return images;
}

// The results of cleanlab 2.9.0 for draw(60, 4, 0.2, 7): compute_confident_joint, calibrate and
// find_label_issues, ranked by normalised margin.
TEST(Confident, IsCleanlabs) {
  const Drawn drawn = draw(60, 4, 0.2, 7);
  const JudgedLabels judged = drawn.judged();
  const LabelCounts joint = confident_joint(judged);
  EXPECT_THAT(joint.counts, ElementsAre(7, 1, 2, 2, 2, 9, 2, 0, 0, 2, 7, 2, 1, 1, 1, 8));
  EXPECT_THAT(calibrated(joint, judged).counts,
              ElementsAre(8, 1, 2, 2, 2, 12, 3, 0, 0, 2, 9, 3, 1, 1, 2, 12));
  const auto listed = [&](Prune prune, SuspectOrder order = SuspectOrder::kMargin) {
    return images_of(find_label_suspects(judged, prune, order));
  };
  EXPECT_THAT(listed(Prune::kNoiseRate),
              ElementsAre(5, 50, 42, 36, 25, 24, 57, 40, 54, 27, 56, 11, 10, 39, 14));
  EXPECT_THAT(listed(Prune::kClass),
              ElementsAre(5, 50, 42, 36, 25, 24, 57, 40, 54, 56, 51, 11, 10, 28, 48, 39, 55, 3));
  EXPECT_THAT(listed(Prune::kBoth), ElementsAre(5, 50, 42, 36, 25, 24, 57, 40, 54, 56, 11, 10, 39));
  EXPECT_THAT(listed(Prune::kConfidentJoint),
              ElementsAre(5, 50, 42, 36, 25, 24, 57, 40, 54, 27, 56, 51, 11, 10, 28, 14));
  EXPECT_THAT(listed(Prune::kNoiseRate, SuspectOrder::kOwn),
              ElementsAre(42, 25, 24, 5, 54, 36, 50, 40, 39, 11, 10, 57, 27, 56, 14));
}

// The formulas as published, image by image, in float64.
std::vector<double> thresholds_as_printed(const Drawn& drawn) {
  std::vector<double> thresholds(drawn.classes, std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < drawn.classes; ++j) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < drawn.labels.size(); ++i) {
      if (drawn.labels[i] != static_cast<std::int32_t>(j)) continue;
      sum += double{drawn.probabilities[i * drawn.classes + j]};
      ++count;
    }
    if (count > 0) thresholds[j] = sum / static_cast<double>(count);
  }
  return thresholds;
}

TEST(Confident, IsWhatThePaperSays) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Drawn drawn = draw(400, 2 + seed % 9, 0.15, seed);
    const JudgedLabels judged = drawn.judged();
    const std::size_t k = drawn.classes;
    const std::vector<double> thresholds = thresholds_as_printed(drawn);
    EXPECT_THAT(class_thresholds(judged), ElementsAreArray(thresholds));
    std::vector<std::uint64_t> joint(k * k);
    std::vector<double> labelled(k);
    for (std::size_t i = 0; i < drawn.labels.size(); ++i) {
      const auto given = static_cast<std::size_t>(drawn.labels[i]);
      ++labelled[given];
      double best = -1;
      std::size_t found = k;
      for (std::size_t j = 0; j < k; ++j) {
        const double p{drawn.probabilities[i * k + j]};
        if (p >= thresholds[j] && p > best) {
          best = p;
          found = j;
        }
      }
      if (found < k) ++joint[given * k + found];
    }
    EXPECT_EQ(confident_joint(judged).counts, joint) << "seed " << seed;
    const LabelCounts scaled = calibrated({k, joint}, judged);
    for (std::size_t i = 0; i < k; ++i) {
      double sum = 0;
      double scaled_sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += static_cast<double>(joint[i * k + j]);
      for (std::size_t j = 0; j < k; ++j) {
        const double exact = sum > 0 ? static_cast<double>(joint[i * k + j]) / sum * labelled[i]
                                     : (i == j ? labelled[i] : 0);
        EXPECT_NEAR(static_cast<double>(scaled.at(i, j)), exact, 1) << "seed " << seed;
        scaled_sum += static_cast<double>(scaled.at(i, j));
      }
      EXPECT_EQ(scaled_sum, labelled[i]);
    }
  }
}

TEST(Confident, TellsOwnAndOther) {
  const std::vector<float> p{0.9F, 0.1F, 0.0F,  //
                             0.2F, 0.7F, 0.1F,  // labelled 0, probably 1
                             0.1F, 0.8F, 0.1F,  //
                             0.0F, 0.1F, 0.9F};
  const std::vector<std::int32_t> labels{0, 0, 1, 2};
  const auto suspects = find_label_suspects({p, labels, 3}, Prune::kConfidentJoint);
  // 0.7 is below 0.8, the average of images labelled 1.
  EXPECT_THAT(suspects, ::testing::IsEmpty());
  const std::vector<std::int32_t> two{0, 0, 1, 1};
  const std::vector<std::pair<std::string, float>> scores{
      {"ratio", 0.2F / 0.9F}, {"margin", 0.25F}, {"own", 0.2F}};
  for (const auto& [name, score] : scores) {
    const auto found =
        find_label_suspects({p, two, 3}, Prune::kConfidentJoint, parse_suspect_order(name));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].image, 1U);
    EXPECT_EQ(found[0].likely, 1);
    EXPECT_FLOAT_EQ(found[0].score, score);
  }
}

TEST(Confident, EqualProbabilitiesReachTheirMean) {
  // The mean of 0.1F in float64 may be larger than 0.1F; all images still belong to their class.
  const std::size_t images = 7;
  const std::vector<float> p(images * 2, 0.1F);
  const std::vector<std::int32_t> labels(images, 0);
  EXPECT_THAT(confident_joint({p, labels, 2}).counts, ElementsAre(images, 0, 0, 0));
  EXPECT_THAT(find_label_suspects({p, labels, 2}, Prune::kClass), ::testing::IsEmpty());
}

TEST(Confident, OneClassAndNoImagesHaveNoSuspects) {
  const std::vector<float> p{1, 1};
  const std::vector<std::int32_t> labels{0, 0};
  for (const PruneRow& row : prunings()) {
    EXPECT_THAT(find_label_suspects({p, labels, 1}, row.prune), ::testing::IsEmpty());
    EXPECT_THAT(find_label_suspects({{}, {}, 3}, row.prune), ::testing::IsEmpty());
    EXPECT_EQ(parse_prune(row.name), row.prune);
  }
}

TEST(Confident, RefusesWhatDoesNotFit) {
  const std::vector<float> p{0.5F, 0.5F};
  const std::vector<std::int32_t> beyond{2};
  const std::vector<std::int32_t> none{-1};
  const std::vector<std::int32_t> one{1};
  EXPECT_THROW(check_judged({p, beyond, 2}), UsageError);
  EXPECT_THROW(check_judged({p, none, 2}), UsageError);
  EXPECT_THROW(check_judged({p, one, 3}), UsageError);
  EXPECT_THROW(check_judged({{}, {}, 0}), UsageError);
  const std::vector<float> broken{0.5F, std::nanf("")};
  EXPECT_THROW(check_judged({broken, one, 2}), UsageError);
  EXPECT_THROW(parse_prune("guess"), UsageError);
  EXPECT_THROW(parse_suspect_order("guess"), UsageError);
}

}  // namespace winnow::dedup::confident_test
