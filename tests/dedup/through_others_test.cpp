#include "dedup/verify/through_others.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace winnow::dedup::through_others_test {

Affine moved(double x0) { return {.x0 = x0}; }

VerifiedPair pair_of(std::uint32_t a, std::uint32_t b, const Affine& map) {
  return {.row_a = a, .row_b = b, .probability = 1, .map = map};
}

TEST(ThroughOthers, TriesWhatIsLinkedToOneThatGoes) {
  // 1 is represented by 0; 2 is linked only to 1.
  const std::vector<VerifiedPair> pairs{pair_of(0, 1, moved(0.1)), pair_of(1, 2, moved(0.2))};
  RowPairs tried;
  const std::vector<Trial> trials = trials_through_others(pairs, tried);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].row_a, 0U);
  EXPECT_EQ(trials[0].row_b, 2U);
  ASSERT_TRUE(trials[0].map);
  EXPECT_NEAR(trials[0].map->x0, 0.3, 1e-12) << "both lie upon the one between";
  EXPECT_EQ(tried, (RowPairs{{0, 2}}));
  EXPECT_TRUE(trials_through_others(pairs, tried).empty()) << "once";
}

// 3 is linked to the image that stays. 1 and 2 are as well, and are linked to 3 only through it.
TEST(ThroughOthers, TriesOthersOfAPictureThatHasFew) {
  std::vector<VerifiedPair> pairs{pair_of(0, 1, moved(0.1)), pair_of(0, 2, moved(0.2)),
                                  pair_of(0, 3, moved(0.3))};
  const auto rows = [](const Trial& trial) { return std::pair(trial.row_a, trial.row_b); };
  const auto tried_of = [&] {
    RowPairs tried;
    for (const VerifiedPair& pair : pairs) tried.emplace(pair.row_a, pair.row_b);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (const Trial& trial : trials_through_others(pairs, tried)) out.push_back(rows(trial));
    return out;
  };
  EXPECT_EQ(tried_of(),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 2}, {1, 3}, {2, 3}}));
  for (std::uint32_t row = 4; row < 20; ++row) pairs.push_back(pair_of(3, row, moved(0)));
  for (const auto& [a, b] : tried_of()) EXPECT_TRUE(a != 3 && b != 3) << "it has many";
}

TEST(ThroughOthers, TriesNothingThatShowsTooLittleOfTheOther) {
  RowPairs tried;
  const std::vector<VerifiedPair> apart{pair_of(0, 1, moved(0.5)), pair_of(1, 2, moved(0.4))};
  EXPECT_TRUE(trials_through_others(apart, tried).empty());
  EXPECT_TRUE(trials_through_others({}, tried).empty());
}

TEST(ThroughOthers, TriesAPictureWithFewOthers) {
  // Ten pictures each represent a copy, and the last picture is linked to all these copies.
  std::vector<VerifiedPair> pairs;
  for (std::uint32_t i = 0; i < 10; ++i) pairs.push_back(pair_of(i, 10 + i, moved(0)));
  for (std::uint32_t i = 0; i < 10; ++i) pairs.push_back(pair_of(10 + i, 20, moved(0)));
  RowPairs tried;
  std::vector<Trial> trials = trials_through_others(pairs, tried);
  std::erase_if(trials, [](const Trial& trial) { return trial.row_b != 20; });
  ASSERT_EQ(trials.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(trials[i].row_a, i) << "the first ones";
}

// As in `dedup`, which repeats until nothing is left to try: a whole chain ends at its first image.
TEST(ThroughOthers, JoinAChainInFewRounds) {
  std::vector<VerifiedPair> pairs;
  for (std::uint32_t i = 0; i + 1 < 33; ++i) pairs.push_back(pair_of(i, i + 1, moved(0)));
  RowPairs tried;
  for (const VerifiedPair& pair : pairs) tried.emplace(pair.row_a, pair.row_b);
  int rounds = 0;
  for (; rounds < 40; ++rounds) {
    const std::vector<Trial> trials = trials_through_others(pairs, tried);
    if (trials.empty()) break;
    for (const Trial& trial : trials)
      pairs.push_back(pair_of(trial.row_a, trial.row_b, *trial.map));
    std::ranges::sort(pairs, {},
                      [](const VerifiedPair& pair) { return std::pair(pair.row_a, pair.row_b); });
  }
  EXPECT_LE(rounds, 8);
  for (std::uint32_t i = 1; i < 33; ++i) EXPECT_TRUE(tried.contains({0, i})) << i;
}

}  // namespace winnow::dedup::through_others_test
