#include "dedup/verify/false_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace winnow::dedup::false_pairs_test {

double probability_of(double score) { return 1 / (1 + std::exp(-score)); }

// Registered pairs, by the distance of their codes and the score of their pictures.
struct Judged {
  // Adds `count` pairs with a score and a half.
  void add(int count, int score, bool is_near) {
    for (int i = 0; i < count; ++i) {
      const double probability = probability_of(score + 0.5);
      (is_near ? verification.near_scores : verification.far_scores).add(probability);
      ++verification.counts.registered;
      if (probability < 0.9) continue;
      const std::uint32_t row = 2 * static_cast<std::uint32_t>(verification.pairs.size());
      verification.pairs.push_back({.row_a = row,
                                    .row_b = row + 1,
                                    .probability = static_cast<float>(probability),
                                    .map = {}});
      if (is_near) near.push_back({row, row + 1, 0});
    }
  }

  KeptPairs leave_out_false() {
    return dedup::leave_out_false({calibration, near}, {0.9, 0.5}, verification);
  }

  Calibration calibration = [] {
    Calibration of_few;
    of_few.copies = 20.0;
    return of_few;
  }();
  std::vector<Edge> near;
  Verification verification;
};

TEST(FalsePairs, AreAtMostSoManyInNineteenOfTwentySets) {
  EXPECT_EQ(most_false_pairs(0), 0);
  EXPECT_EQ(most_false_pairs(0.05), 0);
  EXPECT_EQ(most_false_pairs(0.06), 1);
  EXPECT_EQ(most_false_pairs(0.5), 2);
  EXPECT_EQ(most_false_pairs(3), 6);
  EXPECT_EQ(most_false_pairs(99.9), 117);  // exact on one side of the limit
  EXPECT_EQ(most_false_pairs(100.1), 117);
}

// The scores of far pairs fall off slowly; those of near pairs do not fall off at all.
TEST(FalsePairs, LeaveOutAllThatIsNotShownWhereNoProbabilityIsEnough) {
  Judged judged;
  for (int score = 0; score < 8; ++score) {
    judged.add(static_cast<int>(4000 * std::exp(-score / 2.0)), score, /*is_near=*/false);
  }
  for (int score = 0; score < 16; ++score) judged.add(2000, score, /*is_near=*/true);
  judged.verification.pairs.front().is_shown = true;
  const std::size_t before = judged.verification.pairs.size();
  const KeptPairs kept = judged.leave_out_false();
  EXPECT_TRUE(kept.least.only_shown);
  ASSERT_EQ(judged.verification.pairs.size(), 1);
  EXPECT_TRUE(judged.verification.pairs[0].is_shown);
  EXPECT_EQ(kept.doubtful.size(), before - 1);
  EXPECT_EQ(kept.expected_false, 0);
}

TEST(FalsePairs, KeepWhatIsProbableEnoughBesideLookAlikes) {
  Judged judged;
  for (int score = 0; score < 8; ++score) {
    judged.add(static_cast<int>(4000 * std::exp(-score / 0.5)), score, /*is_near=*/false);
  }
  judged.add(300, 14, /*is_near=*/false);
  judged.add(200, 14, /*is_near=*/true);
  const std::size_t before = judged.verification.pairs.size();
  const KeptPairs kept = judged.leave_out_false();
  EXPECT_FALSE(kept.least.only_shown);
  EXPECT_EQ(judged.verification.pairs.size(), 500);
  EXPECT_EQ(kept.doubtful.size(), before - 500);
  EXPECT_LE(kept.expected_false, 5);
}

}  // namespace winnow::dedup::false_pairs_test
