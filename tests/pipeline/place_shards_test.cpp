#include "pipeline/load/place_shards.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/store/parts.h"

namespace winnow::pipeline::place_shards_test {

using Numbers = std::vector<std::uint32_t>;

Manifest of_shards(std::size_t count) {
  Manifest manifest;
  for (std::size_t i = 0; i < count; ++i) {
    manifest.shards.push_back({.file = "shards/0000" + std::to_string(i) + ".mdb",
                               .first_id = 100 * i,
                               .last_id = 100 * i + 99,
                               .records = 100,
                               .bytes = 40'960,
                               .block_hashes = {}});
  }
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
  for (const std::size_t shards : {1, 5}) {
    const Placement placement = divide_shards(of_shards(shards), {}, {0, 0, 1, 1});
    EXPECT_EQ(placement.nodes, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_TRUE(placement.partitions.empty());
    ASSERT_TRUE(placement.parts);
    ASSERT_EQ(placement.held.size(), 2U);
    for (int node = 0; node < 2; ++node) {
      EXPECT_EQ(placement.held[static_cast<std::size_t>(node)].size(), shards);
      const std::uint64_t ids = count_ids(runs_of(*placement.parts, node));
      EXPECT_NEAR(static_cast<double>(ids), 50.0 * static_cast<double>(shards),
                  7);  // one block at most
    }
  }
}

// The parts of a machine do not depend on which ranks run on it.
TEST(DivideShards, PartsAreOfMachinesNotOfRanks) {
  const Parts& a = *divide_shards(of_shards(3), {}, {0, 1, 2}).parts;
  const Placement other = divide_shards(of_shards(3), {}, {2, 0, 1, 1, 0, 2});
  EXPECT_EQ(a.machine_of, other.parts->machine_of);
  EXPECT_EQ(other.nodes, (std::vector<int>{2, 0, 1, 1, 0, 2}));
}

TEST(DivideShards, RanksMayBeTakenForMachines) {
  const Placement placement = divide_shards(of_shards(8), {.ranks_per_machine = 1}, {0, 0, 0, 0});
  EXPECT_EQ(placement.nodes, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(placement.held.size(), 4U);
}

TEST(DivideShards, PartitionsAreOfAllShards) {
  const Placement placement = divide_shards(of_shards(3), {.partitions = 1}, {0, 1});
  EXPECT_FALSE(placement.parts);
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

}  // namespace winnow::pipeline::place_shards_test
