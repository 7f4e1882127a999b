#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/partition.h"

// Which machine of a job holds which records of a cache in memory. Pure functions of what every
// rank knows before it has read a shard: the manifest, and how many machines there are.
namespace winnow::pipeline {

// Ids [first, last].
struct IdRun {
  SampleId first = 0;
  SampleId last = 0;

  bool operator==(const IdRun&) const = default;
};
// Whether one of `runs`, which ascend, has `id`.
bool has_id(std::span<const IdRun> runs, SampleId id) noexcept;
// The same of any id of [first, last].
bool has_any(std::span<const IdRun> runs, IdRun ids) noexcept;
std::uint64_t count_ids(std::span<const IdRun> runs) noexcept;

// How many bytes of a shard the records of some of its ids have, if all its ids had as many.
std::uint64_t estimate_bytes(const ShardInfo& shard, std::uint64_t ids) noexcept;

// The ids of a cache in blocks. A block is a run of ids within one shard; blocks are numbered in
// the order of ids. Takes 24 bytes a shard, and nothing for a block.
class Blocks {
 public:
  Blocks() = default;
  // Blocks of at most `most_bytes` by estimate_bytes(), where that is not under one id. `shards` as
  // a manifest has them.
  Blocks(std::span<const ShardInfo> shards, std::uint64_t most_bytes);

  std::size_t size() const noexcept;
  std::size_t shard_of(std::size_t block) const noexcept;
  IdRun ids(std::size_t block) const noexcept;
  // The block of an id; of one that no shard has: size().
  std::size_t block_of(SampleId id) const noexcept;

 private:
  struct OfShard {
    IdRun ids;
    std::uint64_t ids_of_block = 1;  // the last one may have fewer
    std::size_t end = 0;             // one past its last block
  };
  std::size_t begin_of(std::size_t shard) const noexcept {
    return shard == 0 ? 0 : shards_[shard - 1].end;
  }

  std::vector<OfShard> shards_;
};

// Blocks, and who holds them: of each copy of the cache, for each block, the number of a machine.
struct Parts {
  std::uint32_t machines = 0;  // that there are; some may hold nothing
  Blocks blocks;
  std::vector<std::vector<std::uint32_t>> machine_of;  // [copy][block]: 4 bytes
};

// Bytes that a block has at most: as few as give each machine kBlocksOfPart, and never more than
// kMostBlockBytes. With fewer blocks, parts were less even, and a machine could hold one split or
// class alone and be asked for all of it. With smaller ones more packs would be cut in two by the
// border of a block, and read by two machines: a pack is 256 KiB at most, so that of blocks of 4
// MiB it is about one byte in sixteen. So a cache of any size has about kBlocksOfPart blocks a
// machine, or one for each 4 MiB, and one for each shard besides: that is 1 MiB of memory for each
// TiB.
inline constexpr std::uint64_t kMostBlockBytes = 4u << 20;
inline constexpr std::uint64_t kBlocksOfPart = 8;
std::uint64_t block_bytes(std::span<const ShardInfo> shards, int nodes) noexcept;

// Consecutive machines form `replicas` groups, each of which has every block once; in a group, what
// two machines hold differs by the largest block at most, by estimate_bytes(). Blocks are dealt in
// their order, each to the machine that has least so far: what is near in the order of ingest, as
// a split or a class is, comes to all. UsageError for more replicas than machines.
Parts hold_blocks(std::span<const ShardInfo> shards, int nodes, int replicas);

// What a machine holds: ids, ascending, of which two runs never touch; and the shards they are in.
std::vector<IdRun> runs_of(const Parts& parts, int node);
std::vector<std::uint32_t> shards_of(const Parts& parts, int node);
// Bytes that each machine holds, by estimate_bytes().
std::vector<std::uint64_t> bytes_of_machines(const Parts& parts, std::span<const ShardInfo> shards);
// The machines that hold any of `ids`, ascending; of a run of ids within one shard.
std::vector<std::uint32_t> holders_of(const Parts& parts, IdRun ids);

// The same by partitions of the ids, for machines that each read as many, in their order: of
// `replicas` groups each has every partition once, and each machine holds those that it reads
// itself, for any number of replicas that divides that of machines. UsageError likewise.
std::vector<Partitions> hold_partitions(int partitions, int nodes, int replicas);

}  // namespace winnow::pipeline
