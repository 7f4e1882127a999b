#include "common/comm/schedule/rabenseifner.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::rabenseifner_test {

const Schedule& rabenseifner() { return find_schedule("rabenseifner"); }

// 2 (p-1)/p of the buffer on every rank, which is the minimum.
TEST(Rabenseifner, TrafficIsTheBoundOnPowersOfTwo) {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    const std::size_t count = 40 * static_cast<std::size_t>(ranks);
    const std::size_t half = 40 * static_cast<std::size_t>(ranks - 1);
    for (const std::size_t segment : {count, count / 2, count / 10}) {
      if (2 * segment % static_cast<std::size_t>(ranks) != 0) continue;
      for (const Traffic& rank :
           traffic(transfers_of_all(rabenseifner(), ranks, count, {.segment_elements = segment}))) {
        EXPECT_EQ(rank.sent, 2 * half) << ranks << " ranks";
        EXPECT_EQ(rank.received, 2 * half) << ranks << " ranks";
        EXPECT_EQ(rank.added, half) << ranks << " ranks";
      }
    }
  }
}

// The first rank of a pair sends half the buffer to the second, and at the end the whole. The
// second sends one half to be added and one half that is summed. There are p - 1 additions per
// element.
TEST(Rabenseifner, TrafficOfOtherNumbersIsThatOfThePowerBelowAndOfThePairs) {
  for (int ranks = 3; ranks <= 64; ++ranks) {
    const std::size_t p = static_cast<std::size_t>(ranks);
    const std::size_t power = std::bit_floor(p);
    const std::size_t pairs = p - power;
    const std::size_t count = 2 * power;
    const auto cost =
        traffic(transfers_of_all(rabenseifner(), ranks, count, {.segment_elements = count}));
    std::size_t added = 0;
    for (std::size_t rank = 0; rank < p; ++rank) {
      added += cost[rank].added;
      const std::size_t of_power = 4 * (power - 1);
      const bool stands_for_both = rank < 2 * pairs && rank % 2 == 0;
      const bool stood_for = rank < 2 * pairs && rank % 2 == 1;
      EXPECT_EQ(cost[rank].sent, stood_for         ? count
                                 : stands_for_both ? of_power + count / 2 + count
                                                   : of_power)
          << "rank " << rank << " of " << ranks;
    }
    EXPECT_EQ(added, (p - 1) * count) << ranks << " ranks";
  }
}

TEST(Rabenseifner, TakesTwiceTheLogarithmOfTheRanksInRounds) {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    const auto transfers = rabenseifner_all_reduce(one_machine(1, ranks), 1000, {});
    EXPECT_EQ(transfers.back().round + 1, 2 * std::countr_zero(static_cast<unsigned>(ranks)));
  }
}

TEST(Rabenseifner, ChainsAreOfTwoSegments) {
  const auto transfers =
      rabenseifner_all_reduce(one_machine(2, 4), 1000, {.segment_elements = 100});
  EXPECT_EQ(transfers.front().chain, 0);
  EXPECT_EQ(transfers.back().chain, 4);
  EXPECT_EQ(transfers.front().count, 100u);
}

}  // namespace winnow::comm::rabenseifner_test
