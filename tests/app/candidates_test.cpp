#include "app/plan/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace winnow::app::candidates_test {

using testing::ElementsAre;

std::vector<std::int64_t> sizes_of(const std::vector<LaneChoice>& choices) {
  std::vector<std::int64_t> sizes;
  for (const LaneChoice& one : choices) {
    if (sizes.empty() || sizes.back() != one.micro_batch) sizes.push_back(one.micro_batch);
  }
  return sizes;
}

TEST(Candidates, DivideTheBatchAndLeaveOneForEachRank) {
  EXPECT_THAT(micro_batches_of({.batch = 12, .micro_batch = 3, .ranks = 2}),
              ElementsAre(1, 2, 3, 4, 6));
}

TEST(Candidates, GroupsOfBatchNormStayBetween16And512ButForTheRunsOwn) {
  const auto sizes =
      micro_batches_of({.batch = 2048, .micro_batch = 8, .ranks = 1, .has_norm = true});
  EXPECT_THAT(sizes, ElementsAre(8, 16, 32, 64, 128, 256, 512));
  const auto large =
      micro_batches_of({.batch = 2048, .micro_batch = 1024, .ranks = 1, .has_norm = true});
  EXPECT_EQ(large.back(), 1024);
  EXPECT_EQ(large.front(), 16);
}

TEST(Candidates, SixSizesAtMostAndTheRunsOwnAmongThem) {
  for (const std::int64_t own : {1, 7, 64, 840, 5040}) {
    const auto choices = choices_of({.batch = 5040, .micro_batch = own, .cores = 4});
    const auto sizes = sizes_of(choices);
    EXPECT_LE(sizes.size(), 7u);  // the last is the run's own size again, with other lanes
    EXPECT_NE(std::ranges::find(sizes, own), sizes.end()) << own;
  }
}

TEST(Candidates, LanesOfOtherThreadsAreOfTheRunsOwnMicroBatch) {
  const auto choices = choices_of({.batch = 256, .micro_batch = 64, .cores = 4});
  int other = 0;
  for (const LaneChoice& one : choices) {
    if (one.lane_threads != 1) {
      ++other;
      EXPECT_TRUE(one.micro_batch == 64 || one.micro_batch > 64) << one.micro_batch;
    }
  }
  EXPECT_GE(other, 1);
}

TEST(Candidates, NoOtherThreadsWhereSomeWereAskedForOrBitsDependOnThem) {
  for (const auto& choice :
       choices_of({.batch = 256, .micro_batch = 64, .cores = 4, .lane_threads = 2})) {
    EXPECT_EQ(choice.lane_threads, 2);
  }
  for (const auto& choice :
       choices_of({.batch = 256, .micro_batch = 64, .cores = 4, .reproducible = true})) {
    EXPECT_EQ(choice.lane_threads, 1);
  }
}

TEST(Candidates, ThreeAreMeasuredTheSmallestFirst) {
  EXPECT_THAT(measured_of({8, 16, 32, 64, 128}, 32), ElementsAre(8, 32, 64));
  EXPECT_THAT(measured_of({16, 32, 64, 128}, 128), ElementsAre(16, 64, 32));
  EXPECT_THAT(measured_of({128, 256}, 256), ElementsAre(128));
  EXPECT_THAT(measured_of({16}, 16), ElementsAre(16));
  EXPECT_TRUE(measured_of({}, 16).empty());
}

}  // namespace winnow::app::candidates_test
