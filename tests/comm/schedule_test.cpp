#include "common/comm/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "common/comm/schedule/multicolor.h"
#include "common/error.h"
#include "tests/comm/check/check.h"
#include "tests/comm/expect_all_reduce.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::schedule_test {

constexpr int kColors[] = {1, 2, 3, 4, 8};

// The tree of one colour, over all ranks.
struct ColorTree {
  int root = -1;
  std::vector<int> parent;
  std::vector<std::vector<int>> children;
};

ColorTree multicolor_tree(int color, int colors, int ranks, int children = 0) {
  ColorTree tree;
  for (int rank = 0; rank < ranks; ++rank) {
    TreePlace place =
        multicolor_place(rank, ranks, color, {.colors = colors, .children = children});
    if (place.parent < 0) tree.root = rank;
    tree.parent.push_back(place.parent);
    tree.children.push_back(std::move(place.children));
  }
  return tree;
}

int depth(const ColorTree& tree) {
  int deepest = 0;
  for (std::size_t rank = 0; rank < tree.parent.size(); ++rank) {
    int hops = 0;
    for (int at = static_cast<int>(rank); tree.parent[static_cast<std::size_t>(at)] >= 0;
         at = tree.parent[static_cast<std::size_t>(at)]) {
      ++hops;
    }
    deepest = std::max(deepest, hops);
  }
  return deepest;
}

TEST(MulticolorTree, SpansAllRanksFromOneRoot) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (const int colors : kColors) {
      for (int color = 0; color < std::min(colors, ranks); ++color) {
        const ColorTree tree = multicolor_tree(color, colors, ranks);
        ASSERT_EQ(tree.parent.size(), static_cast<std::size_t>(ranks));
        ASSERT_EQ(tree.children.size(), static_cast<std::size_t>(ranks));
        ASSERT_EQ(std::ranges::count(tree.parent, -1), 1);
        std::set<int> reached{tree.root};
        std::vector<int> open{tree.root};
        while (!open.empty()) {
          const int at = open.back();
          open.pop_back();
          for (const int child : tree.children[static_cast<std::size_t>(at)]) {
            EXPECT_EQ(tree.parent[static_cast<std::size_t>(child)], at);
            EXPECT_TRUE(reached.insert(child).second) << "rank " << child << " is reached twice";
            open.push_back(child);
          }
        }
        EXPECT_EQ(reached.size(), static_cast<std::size_t>(ranks));
      }
    }
  }
}

TEST(MulticolorTree, InteriorsOfColorsAreDisjoint) {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    for (const int colors : kColors) {
      std::vector<int> interior_in(static_cast<std::size_t>(ranks));
      for (int color = 0; color < std::min(colors, ranks); ++color) {
        const ColorTree tree = multicolor_tree(color, colors, ranks);
        for (std::size_t rank = 0; rank < interior_in.size(); ++rank) {
          if (!tree.children[rank].empty()) ++interior_in[rank];
        }
      }
      EXPECT_LE(std::ranges::max(interior_in), 1) << ranks << " ranks, " << colors << " colours";
    }
  }
}

TEST(MulticolorTree, IsShallow) {
  EXPECT_EQ(depth(multicolor_tree(0, 4, 8)), 2);
  EXPECT_EQ(depth(multicolor_tree(3, 4, 16)), 2);
  EXPECT_EQ(depth(multicolor_tree(1, 4, 64)), 3);
  EXPECT_EQ(depth(multicolor_tree(2, 4, 256)), 4);
  EXPECT_EQ(depth(multicolor_tree(0, 8, 64)), 2);
  EXPECT_LE(depth(multicolor_tree(1, 2, 256)), 8);
  EXPECT_EQ(depth(multicolor_tree(0, 1, 9)), 4) << "one colour: two arms from the root";
}

TEST(MulticolorTree, RefusesColorsThatDoNotExist) {
  EXPECT_THROW(multicolor_place(8, 8, 0, {}), Error);
  EXPECT_THROW(multicolor_tree(4, 4, 8), Error);
  EXPECT_THROW(multicolor_tree(2, 4, 2), Error) << "colours are clamped to ranks";
  EXPECT_THROW(multicolor_tree(-1, 4, 8), Error);
  EXPECT_THROW(multicolor_tree(0, 0, 8), Error);
}

// With a requested number of children, no rank has more. Interior ranks are spread evenly where
// they cannot be disjoint.
TEST(MulticolorTree, KeepsToTheChildrenAskedFor) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (const int colors : kColors) {
      for (const int children : kColors) {
        std::vector<int> inside(static_cast<std::size_t>(ranks));
        for (int color = 0; color < std::min(colors, ranks); ++color) {
          const ColorTree tree = multicolor_tree(color, colors, ranks, children);
          for (std::size_t rank = 0; rank < inside.size(); ++rank) {
            EXPECT_LE(tree.children[rank].size(), static_cast<std::size_t>(children));
            inside[rank] += tree.children[rank].empty() ? 0 : 1;
          }
        }
        EXPECT_LE(std::ranges::max(inside) - std::ranges::min(inside), 2)
            << ranks << " ranks, " << colors << " colours, " << children << " children";
      }
    }
  }
}

// 1 + c / C of the buffer, where c is the number of children of a rank in all colours together.
TEST(Multicolor, TrafficIsWhatTheChildrenMakeIt) {
  constexpr std::size_t kCount = 48'000;
  for (const int ranks : {2, 3, 5, 6, 7, 8, 12, 24, 31, 48, 64}) {
    for (const int colors : kColors) {
      if (colors > ranks) continue;
      for (const int children : {0, 1, 2, 3, 4, 8}) {
        const ScheduleOptions options{
            .colors = colors, .children = children, .segment_elements = 4000};
        const auto cost =
            traffic(transfers_of_all(find_schedule("multicolor"), ranks, kCount, options));
        for (int rank = 0; rank < ranks; ++rank) {
          std::size_t below = 0;
          for (int color = 0; color < colors; ++color) {
            below += multicolor_place(rank, ranks, color, options).children.size();
          }
          const auto c = static_cast<std::size_t>(colors);
          const Traffic& of_rank = cost[static_cast<std::size_t>(rank)];
          EXPECT_LE(of_rank.sent, kCount + below * kCount / c);
          EXPECT_LE(of_rank.received, kCount + below * kCount / c);
        }
      }
    }
  }
}

// All colours and numbers of children, and counts around all limits.
TEST(Multicolor, IsAnAllReduce) {
  for (int ranks = 2; ranks <= 64; ++ranks) {
    const auto p = static_cast<std::size_t>(ranks);
    for (const int colors : kColors) {
      for (const int children : {0, 1, 2, 3, 4, 8}) {
        for (const std::size_t count : {std::size_t{1}, p - 1, p + 1, std::size_t{97}}) {
          expect_all_reduce(find_schedule("multicolor"), ranks, count,
                            {.colors = colors, .children = children, .segment_elements = 24});
        }
      }
    }
  }
}

TEST(Schedules, AreAllReduces) {
  for (const Schedule& schedule : schedules()) {
    for (int ranks = 1; ranks <= 64; ++ranks) {
      const auto p = static_cast<std::size_t>(ranks);
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, 2 * p,
                                      std::size_t{97}, std::size_t{1009}}) {
        for (const std::size_t segment : {std::size_t{13}, std::size_t{100}}) {
          expect_all_reduce(schedule, ranks, count, {.segment_elements = segment});
        }
      }
    }
  }
}

TEST(Schedules, OneRankOrNoElementsNeedsNoTransfers) {
  for (const Schedule& schedule : schedules()) {
    EXPECT_TRUE(schedule.all_reduce(one_machine(0, 1), 1000, {}).empty()) << schedule.name;
    EXPECT_TRUE(schedule.all_reduce(one_machine(2, 5), 0, {}).empty()) << schedule.name;
  }
}

TEST(Schedules, AreFoundByNameAndRefusedWithTheKnownOnes) {
  for (const Schedule& schedule : schedules()) {
    EXPECT_EQ(&find_schedule(schedule.name), &schedule);
    EXPECT_FALSE(schedule.what.empty());
  }
  try {
    find_schedule("star");
    FAIL() << "found a schedule that does not exist";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("star"));
    EXPECT_THAT(e.what(), testing::HasSubstr("multicolor, ring"));
  }
}

TEST(Schedules, RefuseArgumentsThatMakeNoSense) {
  for (const Schedule& schedule : schedules()) {
    EXPECT_THROW(schedule.all_reduce(one_machine(3, 3), 10, {}), Error);
    EXPECT_THROW(schedule.all_reduce(one_machine(-1, 3), 10, {}), Error);
    EXPECT_THROW(schedule.all_reduce(one_machine(0, 3), 10, {.colors = 0}), UsageError);
    EXPECT_THROW(schedule.all_reduce(one_machine(0, 3), 10, {.children = -1}), UsageError);
    EXPECT_THROW(schedule.all_reduce(one_machine(0, 3), 10, {.segment_elements = 0}), UsageError);
    EXPECT_THROW(
        schedule.all_reduce(one_machine(0, 3), std::size_t{1} << 40, {.segment_elements = 1}),
        UsageError);
  }
}

TEST(Schedules, NoMessageIsLongerThanASegment) {
  for (const Schedule& schedule : schedules()) {
    for (const std::size_t segment : {std::size_t{1}, std::size_t{17}, std::size_t{1000}}) {
      for (const Transfer& transfer : schedule.all_reduce(
               one_machine(1, 6), 5003, {.colors = 3, .segment_elements = segment})) {
        EXPECT_LE(transfer.count, segment) << schedule.name;
        EXPECT_GT(transfer.count, 0u) << schedule.name;
      }
    }
  }
}

// The reduce and broadcast of successive segments overlap only if no colour waits for later
// segments of another.
TEST(Multicolor, FirstSegmentsOfAllColorsComeFirst) {
  constexpr std::size_t kCount = 4096;
  const auto transfers =
      multicolor_all_reduce(one_machine(0, 8), kCount, {.colors = 4, .segment_elements = 256});
  for (const Transfer& transfer : transfers) {
    const std::size_t color = transfer.begin / (kCount / 4);
    const std::size_t segment = transfer.begin % (kCount / 4) / 256;
    EXPECT_EQ(static_cast<std::size_t>(transfer.chain), segment * 4 + color);
  }
}

TEST(Multicolor, PartsBeginOnCacheLines) {
  for (const std::size_t count : {100u, 1000u, 1009u}) {
    for (const Transfer& transfer :
         multicolor_all_reduce(one_machine(1, 4), count, {.colors = 4})) {
      EXPECT_EQ(transfer.begin % 16, 0u);
    }
  }
}

// If ranks mod colors is 0, 1 or 2, no rank moves more than twice the buffer either way. The mean
// is the bound of every all-reduce, 2 (p-1)/p of the buffer. Additions are p-1 per element.
TEST(Multicolor, TrafficIsEvenAndWithinTwiceTheBuffer) {
  constexpr std::size_t kCount = 48'000;  // parts are equal for every number of colours below
  for (int ranks = 2; ranks <= 64; ++ranks) {
    for (const int colors : kColors) {
      const auto cost = traffic(transfers_of_all(find_schedule("multicolor"), ranks, kCount,
                                                 {.colors = colors, .segment_elements = 4000}));
      std::size_t sent = 0;
      std::size_t received = 0;
      std::size_t added = 0;
      std::size_t most = 0;
      for (const Traffic& rank : cost) {
        sent += rank.sent;
        received += rank.received;
        added += rank.added;
        most = std::max({most, rank.sent, rank.received});
      }
      const std::size_t whole = static_cast<std::size_t>(ranks - 1) * kCount;
      EXPECT_EQ(sent, 2 * whole);
      EXPECT_EQ(received, 2 * whole);
      EXPECT_EQ(added, whole);
      if (colors <= ranks && ranks % colors <= 2) {
        EXPECT_LE(static_cast<double>(most), 2.001 * kCount)
            << ranks << " ranks, " << colors << " colours";
      }
    }
  }
}

TEST(Ring, TrafficIsTheBoundOnEveryRank) {
  for (int ranks = 2; ranks <= 64; ++ranks) {
    const std::size_t count = 1000 * static_cast<std::size_t>(ranks);
    const std::size_t bound = 2000 * static_cast<std::size_t>(ranks - 1);
    const auto cost =
        traffic(transfers_of_all(find_schedule("ring"), ranks, count, {.segment_elements = 250}));
    for (const Traffic& rank : cost) {
      EXPECT_EQ(rank.sent, bound);
      EXPECT_EQ(rank.received, bound);
      EXPECT_EQ(rank.added, bound / 2);
    }
  }
}

// More colours than ranks means as many colours as ranks.
TEST(Multicolor, ColorsAreClampedToRanks) {
  for (int ranks = 2; ranks <= 7; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(multicolor_all_reduce(one_machine(rank, ranks), 777,
                                      {.colors = 8, .segment_elements = 50}),
                multicolor_all_reduce(one_machine(rank, ranks), 777,
                                      {.colors = ranks, .segment_elements = 50}));
    }
  }
}

// With floats, every rank gets the same bits, close to the sum in double precision.
TEST(Schedules, SumsAreCloseAndTheSameOnAllRanks) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const Schedule& schedule : schedules()) {
    for (const int ranks : {2, 3, 5, 8, 13}) {
      constexpr std::size_t kCount = 333;
      std::vector<std::vector<float>> buffers(static_cast<std::size_t>(ranks),
                                              std::vector<float>(kCount));
      for (auto& buffer : buffers) std::ranges::generate(buffer, [&] { return normal(random); });
      std::vector<double> exact(kCount);
      std::vector<double> magnitude(kCount);
      for (const auto& buffer : buffers) {
        for (std::size_t i = 0; i < kCount; ++i) {
          exact[i] += buffer[i];
          magnitude[i] += std::abs(buffer[i]);
        }
      }
      ASSERT_TRUE(execute_on_vectors(
          transfers_of_all(schedule, ranks, kCount, {.colors = 3, .segment_elements = 20}),
          buffers));
      for (std::size_t i = 0; i < kCount; ++i) {
        EXPECT_NEAR(buffers[0][i], exact[i],
                    ranks * double{std::numeric_limits<float>::epsilon()} * magnitude[i]);
      }
      for (const auto& buffer : buffers) {
        EXPECT_EQ(std::memcmp(buffer.data(), buffers[0].data(), kCount * sizeof(float)), 0)
            << schedule.name << " on " << ranks << " ranks";
      }
    }
  }
}

}  // namespace winnow::comm::schedule_test
