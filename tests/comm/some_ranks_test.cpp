#include "common/comm/schedule/some_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/error.h"
#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::some_ranks_test {

using TransferLists = std::vector<std::vector<Transfer>>;
using testing::HasSubstr;

constexpr std::size_t kCount = 61;
constexpr ScheduleOptions kOptions{.colors = 3, .segment_elements = 9};

TransferLists all_reduce_among(const Schedule& schedule, const std::vector<int>& node_of,
                               const std::vector<int>& ranks) {
  TransferLists lists;
  for (int rank = 0; rank < static_cast<int>(node_of.size()); ++rank) {
    lists.push_back(among({rank, node_of}, ranks, [&](const Placement& those) {
      return schedule.all_reduce(those, kCount, kOptions);
    }));
  }
  return lists;
}

// All subsets of seven ranks on three machines.
TEST(SomeRanks, AreAnAllReduceOfTheirOwn) {
  const std::vector<int> node_of{0, 1, 1, 0, 2, 0, 2};
  for (const Schedule& schedule : schedules()) {
    for (unsigned subset = 1; subset < 128; ++subset) {
      std::vector<int> ranks;
      for (int rank = 6; rank >= 0; --rank) {  // in no particular order
        if ((subset >> static_cast<unsigned>(rank) & 1U) != 0) ranks.push_back(rank);
      }
      ASSERT_EQ(check_all_reduce_among(all_reduce_among(schedule, node_of, ranks), ranks, kCount),
                "")
          << schedule.name << ", subset " << subset;
    }
  }
}

// Additions are those of a job that has no other ranks.
TEST(SomeRanks, SumAsIfTheyWereAll) {
  const std::vector<int> ranks{1, 2, 4};
  for (const Schedule& schedule : schedules()) {
    const TransferLists alone = transfers_of_all(schedule, 3, kCount, kOptions);
    const TransferLists some = all_reduce_among(schedule, std::vector<int>(6), ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      std::vector<Transfer> mapped = alone[r];
      for (Transfer& transfer : mapped) {
        transfer.peer = ranks[static_cast<std::size_t>(transfer.peer)];
      }
      EXPECT_EQ(some[static_cast<std::size_t>(ranks[r])], mapped) << schedule.name;
    }
    for (const std::size_t other : {0U, 3U, 5U}) EXPECT_TRUE(some[other].empty());
  }
}

TEST(SomeRanks, MachinesAreCountedAnew) {
  const std::vector<int> node_of{0, 1, 2, 1, 2};
  std::vector<int> seen;
  among({4, node_of}, std::vector{4, 3, 2}, [&](const Placement& those) {
    EXPECT_EQ(those.rank, 0);
    seen = those.node_of;
    return std::vector<Transfer>();
  });
  EXPECT_EQ(seen, (std::vector{0, 1, 0}));
}

TEST(SomeRanks, RefuseRanksThatAreNone) {
  const auto nothing = [](const Placement&) { return std::vector<Transfer>(); };
  for (const std::vector<int>& ranks : {std::vector{0, 3}, {-1}, {1, 1}}) {
    EXPECT_THROW(among(one_machine(0, 3), ranks, nothing), Error);
  }
}

TEST(SomeRanks, CheckFindsARankTooMany) {
  const TransferLists lists = all_reduce_among(find_schedule("ring"), {0, 0, 0}, {0, 1, 2});
  EXPECT_THAT(check_all_reduce_among(lists, std::vector{0, 1}, kCount), HasSubstr("is none of"));
}

TEST(SomeRanks, CheckFindsAContributionThatIsMissing) {
  TransferLists lists = all_reduce_among(find_schedule("ring"), {0, 0, 0}, {0, 2});
  EXPECT_THAT(check_all_reduce_among(lists, std::vector{0, 1, 2}, kCount),
              HasSubstr("without the contribution"));
}

}  // namespace winnow::comm::some_ranks_test
