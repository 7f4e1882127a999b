#include "dedup/labels/votes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/labels/confident.h"

namespace winnow::dedup::votes_test {

using ::testing::ElementsAre;

NearestRows nearest_of(const std::vector<std::vector<std::uint32_t>>& rows) {
  NearestRows nearest{rows.size(), rows.front().size(), {}};
  for (const auto& row : rows) {
    for (const std::uint32_t near : row) nearest.all.push_back({near, 0.5F});
  }
  return nearest;
}

TEST(Votes, AreSharesOfThoseThatHaveALabel) {
  const NearestRows nearest = nearest_of({{1, 2, 3, 4}, {0, 2, 3, 4}, {3, 3, 3, 3}});
  const std::vector<std::int32_t> labels{0, 1, 1, -1, 2};
  EXPECT_THAT(neighbour_votes(nearest, labels, 3),
              ElementsAre(0.5F / 4.5F, 2.5F / 4.5F, 1.5F / 4.5F,  // neighbours: 1, 1, none, 2
                          1.5F / 4.5F, 1.5F / 4.5F, 1.5F / 4.5F,  // neighbours: 0, 1, none, 2
                          1 / 3.0F, 1 / 3.0F, 1 / 3.0F));
}

// Three clusters of vectors. Some have the label of another cluster: exactly these are listed.
TEST(Votes, FindWrongLabelsOfBundles) {
  constexpr std::size_t kClasses = 3;
  FeatureTable table = empty_features(FeatureType::kF16, 8);
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> wrong;
  for (std::uint32_t i = 0; i < 180; ++i) {
    const std::size_t bundle = i % kClasses;
    std::vector<float> vector(8);
    for (std::size_t d = 0; d < vector.size(); ++d) {
      vector[d] = 0.1F * std::sin(static_cast<float>((i + 1) * (d + 3)));
    }
    vector[bundle] += 1;
    append_feature(table, 10 + i, vector);
    const bool is_wrong = i % 20 == 7;
    if (is_wrong) wrong.push_back(i);
    labels.push_back(static_cast<std::int32_t>((bundle + (is_wrong ? 1 : 0)) % kClasses));
  }
  const NearestRows nearest = nearest_rows(FeatureIndex(table), 10);
  const std::vector<float> shares = neighbour_votes(nearest, labels, kClasses);
  const auto suspects = find_label_suspects({shares, labels, kClasses}, Prune::kNoiseRate);
  std::vector<std::uint32_t> found;
  for (const LabelSuspect& suspect : suspects) {
    found.push_back(suspect.image);
    EXPECT_EQ(suspect.likely, static_cast<std::int32_t>(suspect.image % kClasses));
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(wrong));
}

}  // namespace winnow::dedup::votes_test
