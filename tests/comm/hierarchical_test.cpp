#include "common/comm/schedule/hierarchical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/comm/schedule/multicolor.h"
#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::hierarchical_test {

using Sizes = std::vector<int>;  // ranks of each machine

std::vector<int> in_a_row(const Sizes& sizes) {
  std::vector<int> node_of;
  for (std::size_t machine = 0; machine < sizes.size(); ++machine) {
    node_of.insert(node_of.end(), static_cast<std::size_t>(sizes[machine]),
                   static_cast<int>(machine));
  }
  return node_of;
}

// Assigns rank after rank to the next machine with room.
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

// The traffic of a machine is that of multicolor between machines, at most twice the buffer. Each
// rank of a machine has an equal share.
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

// The transfers of hierarchical_parts(), with the phases inside a machine as messages. The other
// ranks send their part of each share to its rank before the first round between machines, and get
// the sum after the last.
std::vector<std::vector<Transfer>> parts_as_transfers(const std::vector<int>& node_of,
                                                      std::size_t count,
                                                      const ScheduleOptions& options) {
  const int ranks = static_cast<int>(node_of.size());
  const int kLastRound = 1 << 20;
  std::vector<std::vector<Transfer>> all(node_of.size());
  for (int head = 0; head < ranks; ++head) {
    const HierarchicalParts parts = hierarchical_parts({head, node_of}, count, options);
    std::vector<int> locals;
    for (int rank = 0; rank < ranks; ++rank) {
      if (node_of[static_cast<std::size_t>(rank)] == node_of[static_cast<std::size_t>(head)]) {
        locals.push_back(rank);
      }
    }
    EXPECT_EQ(parts.shares.size(), locals.size() + 1);
    const auto place = static_cast<std::size_t>(std::ranges::find(locals, head) - locals.begin());
    const std::size_t begin = parts.shares[place];
    std::vector<Transfer> chains;  // the first transfer of each chain
    const auto chain_of = [&](const Transfer& t) {
      return static_cast<int>(place) * (1 << 16) + t.chain;
    };
    for (const Transfer& t : parts.between) {
      if (chains.empty() || chains.back().chain != t.chain) chains.push_back(t);
      all[static_cast<std::size_t>(head)].push_back(
          {t.kind, t.peer, chain_of(t), t.round + 1, begin + t.begin, t.count});
    }
    if (chains.empty() && parts.shares[place + 1] > begin) {
      chains.push_back({Transfer::Kind::kSend, -1, 0, 0, 0, parts.shares[place + 1] - begin});
    }
    for (const int rank : locals) {
      if (rank == head) continue;
      for (const Transfer& t : chains) {
        const auto add = [&](int of, Transfer::Kind kind, int peer, int round) {
          all[static_cast<std::size_t>(of)].push_back(
              {kind, peer, chain_of(t), round, begin + t.begin, t.count});
        };
        add(rank, Transfer::Kind::kSend, head, 0);
        add(head, Transfer::Kind::kReceiveAdd, rank, 0);
        add(head, Transfer::Kind::kSend, rank, kLastRound);
        add(rank, Transfer::Kind::kReceiveCopy, head, kLastRound);
      }
    }
  }
  for (std::vector<Transfer>& list : all) {
    std::ranges::stable_sort(list, {},
                             [](const Transfer& t) { return std::pair(t.chain, t.round); });
  }
  return all;
}

TEST(HierarchicalParts, AreAnAllReduceOnEqualUnequalAndInterleavedMachines) {
  for (const Sizes& sizes : {Sizes{1, 1},
                             {2},
                             {5},
                             {2, 2},
                             {4, 4},
                             {2, 2, 2},
                             {3, 1},
                             {1, 4},
                             {4, 2, 1},
                             {3, 2, 3},
                             {1, 2, 3, 4, 5},
                             Sizes(16, 4),
                             Sizes(9, 7)}) {
    for (const std::vector<int>& node_of : {in_a_row(sizes), by_turns(sizes)}) {
      for (const int colors : {1, 2, 4}) {
        for (const std::size_t count : {0, 1, 3, 63, 1009}) {
          ASSERT_EQ(check_all_reduce(parts_as_transfers(node_of, count,
                                                        {.colors = colors, .segment_elements = 50}),
                                     count),
                    "")
              << sizes.size() << " machines, " << node_of.size() << " ranks, " << colors
              << " colours, " << count << " elements";
        }
      }
    }
  }
}

// Then messages match by their number among those of two ranks.
TEST(HierarchicalParts, RanksOfAShareTalkOnlyToEachOtherAndAreInAllChains) {
  for (const Sizes& sizes : {Sizes{2, 2}, {3, 1}, {4, 2, 3}, {4, 4, 4}}) {
    for (const std::vector<int>& node_of : {in_a_row(sizes), by_turns(sizes)}) {
      std::map<int, std::set<int>> met;
      std::map<int, std::set<int>> chains;
      for (int rank = 0; rank < static_cast<int>(node_of.size()); ++rank) {
        for (const Transfer& t :
             hierarchical_parts({rank, node_of}, 5000, {.segment_elements = 100}).between) {
          EXPECT_NE(node_of[static_cast<std::size_t>(t.peer)],
                    node_of[static_cast<std::size_t>(rank)]);
          met[rank].insert(t.peer);
          chains[rank].insert(t.chain);
        }
      }
      EXPECT_EQ(met.size(), static_cast<std::size_t>(std::ranges::min(sizes)) * sizes.size());
      for (const auto& [rank, peers] : met) {
        for (const int peer : peers) {
          EXPECT_EQ(chains[peer], chains[rank]);
        }
      }
    }
  }
}

}  // namespace winnow::comm::hierarchical_test
