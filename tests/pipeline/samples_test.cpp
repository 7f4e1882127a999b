#include "pipeline/load/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "pipeline/load/order.h"

namespace winnow::pipeline::samples_test {

using testing::ElementsAre;

// 10 and 30 take turns, and so do 20, 50 and 60; 40 is alone.
SampleSet by_turns() {
  const std::vector<SampleId> stands_for{30, 50, 30, 40, 50, 50};
  return take_turns({10, 20, 30, 40, 50, 60}, {1, 2, 3, 4, 5, 6}, stands_for);
}

TEST(TakeTurns, MakesAPlaceOfThoseThatOneStandsFor) {
  const SampleSet set = by_turns();
  EXPECT_EQ(set.size(), 3U);
  EXPECT_THAT(set.turn_offsets, ElementsAre(0, 2, 5, 6));
  EXPECT_THAT(set.turn_rows, ElementsAre(0, 2, 1, 4, 5, 3));
  EXPECT_EQ(take_turns({}, {}, {}).size(), 0U);
}

TEST(RowAt, EachHasItsTurnOnceInABlock) {
  const SampleSet set = by_turns();
  for (const std::uint64_t seed : {0ULL, 1ULL, 77ULL}) {
    for (std::size_t place = 0; place < set.size(); ++place) {
      const std::uint32_t members = set.turn_offsets[place + 1] - set.turn_offsets[place];
      std::set<std::size_t> all;
      for (std::uint32_t i = 0; i < members; ++i) {
        all.insert(set.turn_rows[set.turn_offsets[place] + i]);
      }
      for (std::uint32_t block = 0; block < 20; ++block) {
        std::set<std::size_t> seen;
        for (std::uint32_t i = 0; i < members; ++i) {
          seen.insert(row_at(set, place, seed, block * members + i));
        }
        EXPECT_EQ(seen, all);
      }
    }
  }
}

TEST(RowAt, DependsOnTheFirstIdAlone) {
  // The same three among others: their turns are unchanged.
  const std::vector<SampleId> stands_for{20, 20, 20};
  const SampleSet alone = take_turns({20, 50, 60}, {1, 1, 1}, stands_for);
  const SampleSet set = by_turns();
  std::map<SampleId, int> firsts;
  for (std::uint32_t epoch = 0; epoch < 300; ++epoch) {
    const SampleId id = set.ids[row_at(set, 1, 9, epoch)];
    EXPECT_EQ(alone.ids[row_at(alone, 0, 9, epoch)], id);
    if (epoch % 3 == 0) ++firsts[id];
  }
  // 100 blocks: 33 are expected, with a standard deviation of 4.7.
  for (const auto& [id, count] : firsts) EXPECT_NEAR(count, 33, 24) << id;
  EXPECT_EQ(firsts.size(), 3U);
}

TEST(RowAt, WithoutTurnsAPlaceIsItsSample) {
  const SampleSet set{.ids = {3, 5}, .weights = {1, 1}};
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(row_at(set, 1, 4, 9), 1U);
}

TEST(TurnAt, DiffersByUse) {
  int equal = 0;
  for (SampleId id = 0; id < 1000; ++id) {
    equal += turn_at(1, 0, id, 5, RandomUse::kTurn) == variant_at(1, 0, id, 5) ? 1 : 0;
  }
  EXPECT_NEAR(equal, 200, 63);  // five standard deviations
}

TEST(TurnAt, WhatASeedMeansStays) {
  std::vector<int> seen;
  for (std::uint32_t turn = 0; turn < 8; ++turn) {
    seen.push_back(turn_at(1, turn, 42, 4, RandomUse::kTurn));
  }
  EXPECT_THAT(seen, ElementsAre(1, 0, 3, 2, 1, 2, 0, 3));
}

}  // namespace winnow::pipeline::samples_test
