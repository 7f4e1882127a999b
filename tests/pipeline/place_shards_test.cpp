#include "pipeline/load/place_shards.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace winnow::pipeline {
namespace {

using Numbers = std::vector<std::uint32_t>;

Manifest of_shards(std::size_t count) {
  Manifest manifest;
  manifest.shards.assign(count, {.file = "shards/00000.mdb", .bytes = 4096, .block_hashes = {}});
  return manifest;
}

TEST(DivideShards, EachMachineHoldsAllWhereThereAreReplicasEnough) {
  const Placement one = divide_shards(of_shards(5), {.replicas = 1}, {0, 0, 0});
  EXPECT_TRUE(one.held.empty());
  EXPECT_TRUE(one.nodes.empty());
  EXPECT_TRUE(divide_shards(of_shards(5), {.replicas = 2}, {0, 0, 1, 1}).held.empty());
  EXPECT_TRUE(divide_shards(of_shards(5), {.ranks_per_machine = 4}, {0, 0, 1, 1}).held.empty());
}

TEST(DivideShards, MachinesHoldEachItsPart) {
  const Placement placement = divide_shards(of_shards(5), {}, {0, 0, 1, 1});
  EXPECT_EQ(placement.nodes, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_TRUE(placement.partitions.empty());
  ASSERT_EQ(placement.held.size(), 2U);
  Numbers all = placement.held[0];
  all.insert(all.end(), placement.held[1].begin(), placement.held[1].end());
  std::ranges::sort(all);
  EXPECT_EQ(all, (Numbers{0, 1, 2, 3, 4}));
}

TEST(DivideShards, RanksMayBeTakenForMachines) {
  const Placement placement = divide_shards(of_shards(8), {.ranks_per_machine = 1}, {0, 0, 0, 0});
  EXPECT_EQ(placement.nodes, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(placement.held.size(), 4U);
}

TEST(DivideShards, PartitionsAreOfAllShards) {
  const Placement placement = divide_shards(of_shards(3), {.partitions = 1}, {0, 1});
  ASSERT_EQ(placement.partitions.size(), 2U);
  ASSERT_EQ(placement.held.size(), 2U);
  int holders = 0;
  for (std::size_t node = 0; node < 2; ++node) {
    const bool has_any = placement.partitions[node].begin < placement.partitions[node].end;
    EXPECT_EQ(placement.held[node], has_any ? Numbers({0, 1, 2}) : Numbers());
    holders += has_any ? 1 : 0;
  }
  EXPECT_EQ(holders, 1);
}

}  // namespace
}  // namespace winnow::pipeline
