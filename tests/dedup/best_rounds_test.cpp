#include "dedup/verify/best_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace winnow::dedup::best_rounds_test {
namespace {

using Pairs = std::vector<RowPair>;

Pairs all_pairs(std::uint32_t from, std::uint32_t count) {
  Pairs pairs;
  for (std::uint32_t a = from; a < from + count; ++a) {
    for (std::uint32_t b = a + 1; b < from + count; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

std::vector<std::uint32_t> in_order(std::size_t rows) {
  std::vector<std::uint32_t> places(rows);
  std::iota(places.begin(), places.end(), std::uint32_t{0});
  return places;
}

// Always prefers the row of greater worth, without doubt, and counts the questions.
class Judge {
 public:
  Judge(const Pairs& pairs, std::vector<int> worth) : pairs_(pairs), worth_(std::move(worth)) {}

  ComparePair compare() {
    return [this](std::size_t pair) {
      ++asked_;
      const auto [a, b] = pairs_[pair];
      const bool is_first = worth_[a] > worth_[b];
      return PictureComparison{{.better = is_first ? a : b,
                                .worse = is_first ? b : a,
                                .why = KeptFor::kNothingAdded,
                                .is_likely = true,
                                .is_sure = true}};
    };
  }
  int asked() const { return asked_; }

 private:
  const Pairs& pairs_;
  std::vector<int> worth_;
  std::atomic<int> asked_{0};
};

// How often each row was the worse one.
std::map<std::uint32_t, int> lost_of(const std::vector<std::optional<PictureComparison>>& told) {
  std::map<std::uint32_t, int> lost;
  for (const auto& pair : told) {
    if (pair) ++lost[pair->preference.worse];
  }
  return lost;
}

TEST(BestRounds, AGuessThatIsRightTakesOneComparisonForEachOther) {
  const Pairs pairs = all_pairs(0, 12);
  std::vector<int> worth(12);
  worth[0] = 1;
  for (int row = 1; row < 12; ++row) worth[static_cast<std::size_t>(row)] = -row;
  Judge judge(pairs, worth);
  const auto told = compare_for_best(pairs, in_order(12), judge.compare());
  EXPECT_EQ(judge.asked(), 11);
  auto lost = lost_of(told);
  EXPECT_EQ(lost[0], 0);
  for (std::uint32_t row = 1; row < 12; ++row) EXPECT_EQ(lost[row], 1) << row;
}

TEST(BestRounds, AGuessThatMostBeatIsGivenUpEarly) {
  const Pairs pairs = all_pairs(0, 12);
  std::vector<int> worth(12);
  worth[0] = -100;  // like an enlargement, which has the most pixels
  worth[1] = 1;
  Judge judge(pairs, worth);
  auto lost = lost_of(compare_for_best(pairs, in_order(12), judge.compare()));
  EXPECT_EQ(lost[0], 3);
  EXPECT_EQ(lost[1], 0);
  EXPECT_LE(judge.asked(), 3 + 11);
}

TEST(BestRounds, NothingButTheBestIsUnbeatenWhateverWasGuessed) {
  std::mt19937 random(7);
  int asked = 0;
  int all = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto rows = static_cast<std::uint32_t>(2 + random() % 14);
    Pairs pairs = all_pairs(0, rows);
    std::ranges::shuffle(pairs, random);
    std::vector<int> worth(rows);
    std::iota(worth.begin(), worth.end(), 0);
    std::ranges::shuffle(worth, random);
    Judge judge(pairs, worth);
    auto lost = lost_of(compare_for_best(pairs, in_order(rows), judge.compare()));
    const auto best = static_cast<std::uint32_t>(std::ranges::max_element(worth) - worth.begin());
    for (std::uint32_t row = 0; row < rows; ++row) EXPECT_EQ(lost[row] == 0, row == best) << trial;
    asked += judge.asked();
    all += static_cast<int>(pairs.size());
  }
  EXPECT_LT(asked, all / 2);
}

TEST(BestRounds, WhatIsNotLinkedToTheBestGoesOnAmongItself) {
  // 0 - 1, 1 - 2, 2 - 3, 3 - 4: 0 stays and replaces 1; then 3 is the best of the rest.
  const Pairs pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  Judge judge(pairs, {9, 1, 2, 8, 3});
  const auto told = compare_for_best(pairs, in_order(5), judge.compare());
  ASSERT_TRUE(told[0] && told[2] && told[3]);
  EXPECT_EQ(told[0]->preference.better, 0U);
  EXPECT_EQ(told[2]->preference.better, 3U);
  EXPECT_EQ(told[3]->preference.better, 3U);
  EXPECT_FALSE(told[1]) << "what goes with 0 needs no more comparisons";
}

// One picture has writing on it, and only comparing with a third tells which.
TEST(BestRounds, AThirdTellsWhichWasAltered) {
  const Pairs pairs = all_pairs(0, 3);
  const ComparePair compare = [&](std::size_t pair) {
    const auto [a, b] = pairs[pair];
    const bool is_clean = a != 0 && b != 0;
    return PictureComparison{{a, b, KeptFor::kFirst}, is_clean ? 0.001 : 0.2};
  };
  const auto told = compare_for_best(pairs, in_order(3), compare);
  ASSERT_TRUE(told[0] && told[1]);
  for (const auto& pair : {*told[0], *told[1]}) {
    EXPECT_EQ(pair.preference.worse, 0U);
    EXPECT_EQ(pair.preference.why, KeptFor::kNothingAdded);
    EXPECT_TRUE(pair.preference.is_sure);
  }
}

TEST(BestRounds, TheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  Pairs pairs;
  std::vector<int> worth(400);
  for (int& one : worth) one = static_cast<int>(random() % 1000);
  for (std::uint32_t group = 0; group < 20; ++group) {
    for (const RowPair& pair : all_pairs(group * 20, 20)) {
      if (random() % 3) pairs.push_back(pair);
    }
  }
  std::vector<std::vector<std::uint32_t>> better;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    Judge judge(pairs, worth);
    auto& of = better.emplace_back();
    for (const auto& pair : compare_for_best(pairs, in_order(worth.size()), judge.compare())) {
      of.push_back(pair ? pair->preference.better : 1000);
    }
  }
  EXPECT_EQ(better[0], better[1]);
}

TEST(BestRounds, NothingToCompareAndWhatIsThrown) {
  EXPECT_TRUE(compare_for_best({}, in_order(3), nullptr).empty());
  const Pairs pairs{{0, 1}};
  EXPECT_THROW(
      compare_for_best(pairs, in_order(2),
                       [](std::size_t) -> PictureComparison { throw std::runtime_error("stop"); }),
      std::runtime_error);
}

}  // namespace
}  // namespace winnow::dedup::best_rounds_test
