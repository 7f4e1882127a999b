#include "common/comm/schedule/recursive_doubling.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::recursive_doubling_test {

TEST(RecursiveDoubling, TakesTheLogarithmOfTheRanksInRounds) {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    const auto transfers = recursive_doubling_all_reduce(one_machine(1, ranks), 1000, {});
    EXPECT_EQ(transfers.back().round + 1, std::countr_zero(static_cast<unsigned>(ranks)));
  }
}

// The whole buffer in each hop. Ranks that others stand in for send and receive it once.
TEST(RecursiveDoubling, TrafficIsTheBufferInEachHop) {
  constexpr std::size_t kCount = 1000;
  for (int ranks = 2; ranks <= 64; ++ranks) {
    const std::size_t p = static_cast<std::size_t>(ranks);
    const std::size_t power = std::bit_floor(p);
    const std::size_t hops = static_cast<std::size_t>(std::countr_zero(power));
    const auto cost = traffic(transfers_of_all(find_schedule("recursive_doubling"), ranks, kCount,
                                               {.segment_elements = 300}));
    for (std::size_t rank = 0; rank < p; ++rank) {
      const bool paired = rank < 2 * (p - power);
      const std::size_t times = !paired ? hops : rank % 2 == 0 ? hops + 1 : 1;
      EXPECT_EQ(cost[rank].sent, times * kCount) << "rank " << rank << " of " << ranks;
      EXPECT_EQ(cost[rank].received, times * kCount) << "rank " << rank << " of " << ranks;
    }
  }
}

}  // namespace winnow::comm::recursive_doubling_test
