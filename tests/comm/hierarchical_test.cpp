#include "common/comm/schedule/hierarchical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/comm/schedule/multicolor.h"
#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm {
namespace {

using Sizes = std::vector<int>;  // ranks of each machine

std::vector<int> in_a_row(const Sizes& sizes) {
  std::vector<int> node_of;
  for (std::size_t machine = 0; machine < sizes.size(); ++machine) {
    node_of.insert(node_of.end(), static_cast<std::size_t>(sizes[machine]),
                   static_cast<int>(machine));
  }
  return node_of;
}

// Rank by rank to the next machine that has room.
std::vector<int> by_turns(Sizes left) {
  std::vector<int> node_of;
  while (std::ranges::max(left) > 0) {
    for (std::size_t machine = 0; machine < left.size(); ++machine) {
      if (left[machine]-- > 0) node_of.push_back(static_cast<int>(machine));
    }
  }
  return node_of;
}

std::vector<std::vector<Transfer>> transfers_of(const std::vector<int>& node_of, std::size_t count,
                                                const ScheduleOptions& options) {
  std::vector<std::vector<Transfer>> out;
  for (int rank = 0; rank < static_cast<int>(node_of.size()); ++rank) {
    out.push_back(hierarchical_all_reduce({rank, node_of}, count, options));
  }
  return out;
}

TEST(Hierarchical, IsAnAllReduceOnEqualAndUnequalMachines) {
  for (const Sizes& sizes : {Sizes{1, 1},
                             {2},
                             {5},
                             {2, 2},
                             {3, 3},
                             {4, 4},
                             {2, 2, 2},
                             {1, 4},
                             {4, 1},
                             {3, 1, 2},
                             {8, 8, 8},
                             {1, 2, 3, 4, 5},
                             {7, 1, 1, 7},
                             Sizes(16, 4),
                             Sizes(9, 7)}) {
    for (const std::vector<int>& node_of : {in_a_row(sizes), by_turns(sizes)}) {
      for (const int colors : {1, 2, 3, 4, 8}) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{1009}}) {
          ASSERT_EQ(
              check_all_reduce(
                  transfers_of(node_of, count, {.colors = colors, .segment_elements = 50}), count),
              "")
              << sizes.size() << " machines, " << node_of.size() << " ranks, " << colors
              << " colours, " << count << " elements";
        }
      }
    }
  }
}

TEST(Hierarchical, IsMulticolorWhereEachMachineHasOneRank) {
  for (const int ranks : {2, 3, 8, 13}) {
    const std::vector<int> node_of = in_a_row(Sizes(static_cast<std::size_t>(ranks), 1));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(hierarchical_all_reduce({rank, node_of}, 5000, {.segment_elements = 300}),
                multicolor_all_reduce({rank, node_of}, 5000, {.segment_elements = 300}));
    }
  }
}

// What leaves and enters a machine is what multicolor moves over machines, at most twice the
// buffer, and each rank of a machine has an equal share.
TEST(Hierarchical, SharesTheTrafficBetweenMachinesOverTheirRanks) {
  constexpr std::size_t kCount = 98'304;
  for (const int machines : {2, 3, 4, 6, 8, 12}) {
    for (const int each : {1, 2, 4, 8}) {
      for (const int colors : {1, 2, 4}) {
        if (colors > machines || machines % colors > 2) continue;
        const std::vector<int> node_of = in_a_row(Sizes(static_cast<std::size_t>(machines), each));
        const auto all =
            transfers_of(node_of, kCount, {.colors = colors, .segment_elements = 3000});
        std::vector<std::size_t> of_machine(static_cast<std::size_t>(machines));
        std::size_t most = 0;
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          std::size_t sent = 0;
          for (const Transfer& transfer : all[rank]) {
            const bool leaves = node_of[static_cast<std::size_t>(transfer.peer)] != node_of[rank];
            if (leaves && transfer.kind == Transfer::Kind::kSend) sent += transfer.count;
          }
          of_machine[static_cast<std::size_t>(node_of[rank])] += sent;
          most = std::max(most, sent);
        }
        const std::size_t busiest = std::ranges::max(of_machine);
        EXPECT_LE(busiest, 2 * kCount) << machines << " machines, " << colors << " colours";
        EXPECT_EQ(most * static_cast<std::size_t>(each), busiest)
            << machines << " machines of " << each << ", " << colors << " colours";
      }
    }
  }
}

}  // namespace
}  // namespace winnow::comm
