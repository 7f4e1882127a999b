#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/partition.h"

// Decides which machine of a job holds which records of a cache in memory. Pure functions of what
// every rank knows before it reads a shard: the manifest and the number of machines.
namespace winnow::pipeline {

// A range of ids, [first, last].
struct IdRun {
  SampleId first = 0;
  SampleId last = 0;

  bool operator==(const IdRun&) const = default;
};
// Whether one of `runs` (ascending) contains `id`.
bool has_id(std::span<const IdRun> runs, SampleId id) noexcept;
// Whether one of `runs` (ascending) contains any id of [first, last].
bool has_any(std::span<const IdRun> runs, IdRun ids) noexcept;
std::uint64_t count_ids(std::span<const IdRun> runs) noexcept;

// Estimates the bytes of the records of `ids` ids of a shard, as if all its ids had equally large
// records.
std::uint64_t estimate_bytes(const ShardInfo& shard, std::uint64_t ids) noexcept;

// Divides the ids of a cache into blocks: ranges of ids within one shard, numbered in the order of
// ids. Takes 24 bytes of memory per shard, and none per block.
class Blocks {
 public:
  Blocks() = default;
  // Makes blocks of at most `most_bytes` by estimate_bytes(), but at least one id. `shards` as in a
  // manifest.
  Blocks(std::span<const ShardInfo> shards, std::uint64_t most_bytes);

  std::size_t size() const noexcept;
  std::size_t shard_of(std::size_t block) const noexcept;
  IdRun ids(std::size_t block) const noexcept;
  // The number of the block with an id; size() if no shard has the id.
  std::size_t block_of(SampleId id) const noexcept;

 private:
  struct OfShard {
    IdRun ids;
    std::uint64_t ids_of_block = 1;  // ids per block; the last block may have fewer
    std::size_t end = 0;             // number after the shard's last block
  };
  std::size_t begin_of(std::size_t shard) const noexcept {
    return shard == 0 ? 0 : shards_[shard - 1].end;
  }

  std::vector<OfShard> shards_;
};

// Which machine holds each block of a cache, for each copy of the cache that the machines have
// together.
struct Parts {
  std::uint32_t machines = 0;  // number of machines; some may hold nothing
  Blocks blocks;
  // Number of the machine that holds a block: machine_of[copy][block].
  std::vector<std::vector<std::uint32_t>> machine_of;
};

// The largest size of a block in bytes: such that each machine gets about kBlocksOfPart blocks, but
// at most kMostBlockBytes.
// - With fewer blocks, parts would be less even, and a machine could be the only one with a split
//   or class, and would have to send all of it.
// - With smaller blocks, more packs would be divided at the border of two blocks, and be read by
//   two machines. A pack has at most 256 KiB, so with blocks of 4 MiB that affects about one byte
//   in sixteen.
// A cache thus has about kBlocksOfPart blocks per machine, or one for each 4 MiB, plus one for each
// shard: 1 MiB of memory for each TiB.
inline constexpr std::uint64_t kMostBlockBytes = 4u << 20;
inline constexpr std::uint64_t kBlocksOfPart = 8;
std::uint64_t block_bytes(std::span<const ShardInfo> shards, int nodes) noexcept;

// Assigns blocks to machines. Consecutive machines form `replicas` groups; each group holds every
// block once. Within a group, machines differ by at most the largest block, by estimate_bytes().
// Each block, in order, goes to the machine that has least so far. Images that were ingested
// together, such as a split or a class, are thus spread over all machines.
// Errors  UsageError for more replicas than machines.
Parts hold_blocks(std::span<const ShardInfo> shards, int nodes, int replicas);

// The records that a machine holds: ascending ranges of ids, no two of which touch; and the numbers
// of the shards with these ids.
std::vector<IdRun> runs_of(const Parts& parts, int node);
std::vector<std::uint32_t> shards_of(const Parts& parts, int node);
// Bytes that each machine holds, by estimate_bytes().
std::vector<std::uint64_t> bytes_of_machines(const Parts& parts, std::span<const ShardInfo> shards);
// The machines, ascending, that hold any of `ids`, a range within one shard.
std::vector<std::uint32_t> holders_of(const Parts& parts, IdRun ids);

// Divides a cache among machines by partitions of the ids, in order and equally. Each of `replicas`
// groups of machines has every partition once. If `replicas` divides the number of machines, each
// machine holds the partitions that it reads itself. UsageError for more replicas than machines.
std::vector<Partitions> hold_partitions(int partitions, int nodes, int replicas);

}  // namespace winnow::pipeline
