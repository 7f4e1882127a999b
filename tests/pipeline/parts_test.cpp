#include "pipeline/store/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"

namespace winnow::pipeline::parts_test {

using testing::Each;
using testing::ElementsAre;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

ShardInfo shard_of(SampleId first, std::uint64_t ids, std::uint64_t bytes) {
  return {.file = "shards/" + std::to_string(first),
          .first_id = first,
          .last_id = first + ids - 1,
          .records = ids,
          .bytes = bytes,
          .block_hashes = {}};
}

// Shards of one record to a million, small and large, some with missing ids before them.
std::vector<ShardInfo> random_shards(std::mt19937_64& random) {
  std::vector<ShardInfo> shards;
  SampleId next = random() % 5;
  for (std::size_t i = 0, count = 1 + random() % 12; i < count; ++i) {
    constexpr std::array<std::uint64_t, 6> kMost{1, 3, 70, 5000, 200'000, 1'000'000};
    const std::uint64_t ids = 1 + random() % kMost[random() % kMost.size()];
    const std::uint64_t bytes = 12'288 + random() % (random() % 3 == 0 ? 300 * kMiB : 2 * kMiB);
    shards.push_back(shard_of(next, ids, bytes));
    next = shards.back().last_id + 1 + (random() % 3 == 0 ? random() % 1000 : 0);
  }
  return shards;
}

std::uint64_t bytes_of(const std::vector<ShardInfo>& shards, const Blocks& blocks,
                       std::size_t block) {
  const IdRun ids = blocks.ids(block);
  return estimate_bytes(shards[blocks.shard_of(block)], ids.last - ids.first + 1);
}

TEST(Blocks, HaveEveryIdOnceAndAreNoLargerThanAsked) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<ShardInfo> shards = random_shards(random);
    const std::uint64_t most = 1 + random() % (random() % 2 == 0 ? 8 * kMiB : 100'000);
    const Blocks blocks(shards, most);
    std::uint64_t total = 0;
    std::size_t block = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      total += shards[i].bytes;
      SampleId next = shards[i].first_id;
      for (; block < blocks.size() && blocks.shard_of(block) == i; ++block) {
        const IdRun ids = blocks.ids(block);
        ASSERT_EQ(ids.first, next);
        ASSERT_LE(ids.first, ids.last);
        ASSERT_TRUE(ids.first == ids.last || bytes_of(shards, blocks, block) <= most);
        for (const SampleId id : {ids.first, ids.first + (ids.last - ids.first) / 2, ids.last}) {
          ASSERT_EQ(blocks.block_of(id), block);
        }
        next = ids.last + 1;
      }
      ASSERT_EQ(next, shards[i].last_id + 1);
      const bool is_next_a_gap = i + 1 == shards.size() || shards[i + 1].first_id > next;
      EXPECT_EQ(blocks.block_of(next) == blocks.size(), is_next_a_gap);
    }
    EXPECT_EQ(block, blocks.size());
    // The number of blocks is bounded
    EXPECT_LE(blocks.size(), 2 * (total / most) + shards.size());
  }
}

TEST(Blocks, OfAManifestFromElsewhereAreNoTrap) {
  const std::vector<ShardInfo> shards{shard_of(0, 0, 8192)};  // all possible ids
  const Blocks blocks(shards, 4096);
  EXPECT_LE(blocks.size(), 3U);
  EXPECT_EQ(blocks.block_of(0), 0U);
  EXPECT_EQ(blocks.block_of(~SampleId{0}), blocks.size() - 1);
  EXPECT_EQ(blocks.ids(blocks.size() - 1).last, ~SampleId{0});
}

// Checks the contract of hold_blocks() for the machines of one group.
void expect_even(const std::vector<ShardInfo>& shards, const Parts& parts, std::size_t group,
                 std::uint32_t begin, std::uint32_t end) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (std::uint32_t node = begin; node < end; ++node) bytes[node] = 0;
  std::uint64_t largest = 0;
  ASSERT_EQ(parts.machine_of[group].size(), parts.blocks.size());
  for (std::size_t block = 0; block < parts.blocks.size(); ++block) {
    const std::uint64_t of_block = bytes_of(shards, parts.blocks, block);
    largest = std::max(largest, of_block);
    const auto found = bytes.find(parts.machine_of[group][block]);
    ASSERT_NE(found, bytes.end());  // a machine of the group
    found->second += of_block;
  }
  const auto by_bytes = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::ranges::minmax_element(bytes, by_bytes);
  EXPECT_LE(most->second - least->second, largest);
}

TEST(HoldBlocks, EachGroupHasEveryBlockOnceAndPartsDifferByABlockAtMost) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<ShardInfo> shards = random_shards(random);
    const auto nodes = 1 + static_cast<std::uint32_t>(random() % 9);
    const auto replicas = 1 + static_cast<std::uint32_t>(random() % nodes);
    const Parts parts = hold_blocks(shards, static_cast<int>(nodes), static_cast<int>(replicas));
    EXPECT_EQ(parts.machines, nodes);
    EXPECT_EQ(parts.machine_of,
              hold_blocks(shards, static_cast<int>(nodes), static_cast<int>(replicas)).machine_of);
    ASSERT_EQ(parts.machine_of.size(), replicas);
    std::uint32_t smallest_group = nodes;
    std::uint32_t largest_group = 0;
    for (std::uint32_t group = 0; group < replicas; ++group) {
      const std::uint32_t begin = group * nodes / replicas;
      const std::uint32_t end = (group + 1) * nodes / replicas;
      smallest_group = std::min(smallest_group, end - begin);
      largest_group = std::max(largest_group, end - begin);
      expect_even(shards, parts, group, begin, end);
    }
    EXPECT_LE(largest_group - smallest_group, 1U);
  }
}

TEST(HoldBlocks, RunsOfAMachineAreItsBlocks) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    const std::vector<ShardInfo> shards = random_shards(random);
    const int nodes = 1 + static_cast<int>(random() % 5);
    const int replicas = 1 + static_cast<int>(random() % static_cast<unsigned>(nodes));
    const Parts parts = hold_blocks(shards, nodes, replicas);
    std::uint64_t ids = 0;
    for (const ShardInfo& shard : shards) ids += shard.last_id - shard.first_id + 1;
    std::uint64_t held = 0;
    std::uint64_t bytes = 0;
    for (int node = 0; node < nodes; ++node) {
      const std::vector<IdRun> runs = runs_of(parts, node);
      for (std::size_t i = 1; i < runs.size(); ++i) {
        ASSERT_LT(runs[i - 1].last + 1, runs[i].first);
      }
      held += count_ids(runs);
      bytes += bytes_of_machines(parts, shards)[static_cast<std::size_t>(node)];
      std::vector<std::uint32_t> in_shards;
      for (std::size_t block = 0; block < parts.blocks.size(); ++block) {
        const IdRun of = parts.blocks.ids(block);
        const std::vector<std::uint32_t> holders = holders_of(parts, of);
        EXPECT_EQ(holders.size(), static_cast<std::size_t>(replicas));
        const bool is_here = std::ranges::binary_search(holders, static_cast<std::uint32_t>(node));
        ASSERT_EQ(has_id(runs, of.first), is_here);
        ASSERT_EQ(has_id(runs, of.last), is_here);
        ASSERT_EQ(has_any(runs, of), is_here);
        const auto shard = static_cast<std::uint32_t>(parts.blocks.shard_of(block));
        if (is_here && (in_shards.empty() || in_shards.back() != shard)) in_shards.push_back(shard);
      }
      EXPECT_EQ(shards_of(parts, node), in_shards);
    }
    EXPECT_EQ(held, ids * static_cast<std::uint64_t>(replicas));
    std::uint64_t whole = 0;
    for (const ShardInfo& shard : shards) whole += shard.bytes;
    EXPECT_GE(bytes, whole * static_cast<std::uint64_t>(replicas));
    // Bytes are rounded up for each block.
    EXPECT_LE(bytes, (whole + parts.blocks.size()) * static_cast<std::uint64_t>(replicas));
  }
}

TEST(HoldBlocks, OneShardIsAPartOnEachOfFourMachines) {
  const std::vector<ShardInfo> shards{shard_of(0, 60'000, 57 * kMiB)};
  const Parts parts = hold_blocks(shards, 4, 1);
  for (const std::uint64_t bytes : bytes_of_machines(parts, shards)) {
    EXPECT_NEAR(static_cast<double>(bytes), 57.0 / 4 * kMiB,
                static_cast<double>(block_bytes(shards, 4)));
  }
  // Each machine also has its share of any range, such as a split or a class.
  for (SampleId first = 0; first < 60'000; first += 7'500) {
    for (int node = 0; node < 4; ++node) {
      const std::vector<IdRun> runs = runs_of(parts, node);
      std::uint64_t held = 0;
      for (SampleId id = first; id < first + 7'500; ++id) held += has_id(runs, id) ? 1 : 0;
      EXPECT_GT(held, 0U) << node << " of " << first;
      EXPECT_LE(held, 2 * 1'876U);
    }
  }
}

TEST(HoldBlocks, FewRecordsGoToAsManyMachines) {
  const auto counts = [](const std::vector<ShardInfo>& shards, int nodes) {
    std::vector<std::uint64_t> counts;
    const Parts parts = hold_blocks(shards, nodes, 1);
    for (int node = 0; node < nodes; ++node) counts.push_back(count_ids(runs_of(parts, node)));
    return counts;
  };
  EXPECT_THAT(counts({shard_of(7, 1, 100 * kMiB)}, 4), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(counts({shard_of(7, 3, 20'480)}, 4), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(counts({shard_of(0, 10, 1000 * kMiB)}, 4), ElementsAre(3, 3, 2, 2));
  const std::vector<ShardInfo> of_one_each{shard_of(0, 1, 16'384), shard_of(1, 1, 16'384),
                                           shard_of(2, 1, 16'384), shard_of(3, 1, 16'384)};
  EXPECT_THAT(counts(of_one_each, 4), Each(1U));
  EXPECT_THAT(counts({shard_of(0, 1'000'000, 3000 * kMiB)}, 2), ElementsAre(500'500, 499'500));
}

TEST(HoldBlocks, OfALargeCacheAreOneForFourMebibytes) {
  std::vector<ShardInfo> shards;
  for (SampleId i = 0; i < 4096; ++i) shards.push_back(shard_of(10'000 * i, 10'000, 256 * kMiB));
  const Parts parts = hold_blocks(shards, 64, 1);
  EXPECT_GE(parts.blocks.size(), 4096U * 64);
  EXPECT_LE(parts.blocks.size(), 4096U * 65);
}

TEST(HoldBlocks, MoreReplicasThanMachinesAreRefused) {
  const std::vector<ShardInfo> shards{shard_of(0, 1, 1)};
  try {
    hold_blocks(shards, 2, 3);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("3 replicas"), testing::HasSubstr("2 machines")));
  }
  EXPECT_THROW(hold_blocks(shards, 1, 0), UsageError);
}

TEST(HoldPartitions, EachGroupHasEachOnceAndMachinesWhatTheyRead) {
  for (int nodes = 1; nodes <= 9; ++nodes) {
    for (int replicas = 1; replicas <= nodes; ++replicas) {
      for (const int partitions : {1, 2, 8, 12, 31}) {
        const std::vector<Partitions> held = hold_partitions(partitions, nodes, replicas);
        ASSERT_EQ(held.size(), static_cast<std::size_t>(nodes));
        std::vector<int> holders(static_cast<std::size_t>(partitions), 0);
        for (int node = 0; node < nodes; ++node) {
          const Partitions& here = held[static_cast<std::size_t>(node)];
          EXPECT_EQ(here.of, partitions);
          for (int p = here.begin; p < here.end; ++p) ++holders[static_cast<std::size_t>(p)];
          if (nodes % replicas != 0 || partitions % nodes != 0) continue;
          // Machine m reads its m-th part of the partitions.
          EXPECT_LE(here.begin, node * partitions / nodes);
          EXPECT_GE(here.end, (node + 1) * partitions / nodes);
        }
        for (const int count : holders) EXPECT_EQ(count, replicas);
      }
    }
  }
  EXPECT_THROW(hold_partitions(8, 2, 3), UsageError);
}

}  // namespace winnow::pipeline::parts_test
