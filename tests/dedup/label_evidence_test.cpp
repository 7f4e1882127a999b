#include "dedup/verify/label_evidence.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace winnow::dedup::label_evidence_test {

// Pairs of two new rows each, and the labels of these rows.
class Pairs {
 public:
  void add(int count, float probability, bool differs) {
    for (int i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint32_t>(2 * pairs_.size());
      pairs_.push_back({row, row + 1, probability, {}});
      put(1);
      put(differs ? 2 : 1);
    }
  }
  void add_without_labels(int count, float probability) {
    for (int i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint32_t>(2 * pairs_.size());
      pairs_.push_back({row, row + 1, probability, {}});
      labels_.push_back({});
      put(7);
    }
  }
  double probable(double least = 0.9) const { return probable_by_labels(pairs_, labels_, least); }

 private:
  void put(std::int32_t label) { labels_.push_back(std::array{label}); }

  std::vector<VerifiedPair> pairs_;
  Ragged<std::int32_t> labels_;
};

TEST(ProbableByLabels, LeavesPairsWhoseLabelsAgree) {
  Pairs pairs;
  EXPECT_EQ(pairs.probable(), 0.9);
  pairs.add(500, 0.95F, false);
  pairs.add(4, 0.95F, true);  // 4 of 500 are too few to tell
  pairs.add(300, 1.0F, false);
  EXPECT_EQ(pairs.probable(), 0.9);
}

TEST(ProbableByLabels, AsksMoreWherePairsDifferThatAreLessSure) {
  Pairs pairs;
  pairs.add(100, 1.0F, false);
  pairs.add(40, 0.9995F, false);
  pairs.add(1, 0.9987F, true);
  pairs.add(60, 0.99F, false);
  pairs.add(20, 0.95F, true);
  EXPECT_NEAR(pairs.probable(), 0.9987, 1.1e-4);
  EXPECT_GT(pairs.probable(), 0.99869);
}

TEST(ProbableByLabels, AllowsWhatLabelsErrByAmongTheSurest) {
  Pairs pairs;
  pairs.add(450, 1.0F, false);
  pairs.add(50, 1.0F, true);
  pairs.add(180, 0.95F, false);
  pairs.add(22, 0.95F, true);
  EXPECT_EQ(pairs.probable(), 0.9);
  pairs.add(40, 0.92F, true);
  EXPECT_NEAR(pairs.probable(), 0.92, 1.1e-4);
}

TEST(ProbableByLabels, AsksForTheSurestAtMost) {
  Pairs pairs;
  pairs.add(30, 0.99989F, true);
  EXPECT_EQ(pairs.probable(), 0.9999);
}

TEST(ProbableByLabels, PassesOverImagesWithoutLabelsAndPairsBelow) {
  Pairs pairs;
  pairs.add_without_labels(50, 0.95F);
  pairs.add(50, 0.7F, true);
  EXPECT_EQ(pairs.probable(), 0.9);
  EXPECT_NEAR(pairs.probable(0.5), 0.7, 1.1e-4);
}

}  // namespace winnow::dedup::label_evidence_test
