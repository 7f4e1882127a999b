#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_copy.h"

// Which machine of a job reads which records of its cache from where.
namespace winnow::pipeline {

// How the machines of a job share a cache out.
struct MachineOptions {
  int replicas = 1;           // copies in the memory of all machines together
  int partitions = 0;         // machines hold parts of so many partitions; 0: blocks of the shards
  int ranks_per_machine = 0;  // 0: as they are; else so many are taken for those of a machine
};

// The nodes, held shards, parts and partitions of a placement; none where each machine is to hold
// all.
// `node_of`: of each rank its machine. Pure.
Placement divide_shards(const Manifest& manifest, const MachineOptions& options,
                        std::vector<int> node_of);

// When shards are read from a copy.
enum class CopyWhen {
  kNeeded,       // they are on a network file system, which they are not mapped from
  kNotInMemory,  // they are not in memory already
  kAlways,
};

struct PlaceOptions {
  CopyOptions copy = {};  // but for which shards, partitions and ids
  CopyWhen when = CopyWhen::kNeeded;
  MachineOptions machines = {};
  std::size_t segment_bytes = std::size_t{128} << 20;  // of what a rank exchanges at once
};

struct PlacedShards {
  std::optional<ShardCopy> copy;  // none: they are read from the cache itself
  Placement placement;
  std::uint64_t given_bytes = 0;  // from machine to machine, of all together
  double giving_seconds = 0;
};

// Puts a copy into each machine's memory, pinned: of all shards or its part. Collective. Machines
// that do not have the cache in its place get it from those that do (pipeline/store/peer_copy.h).
// Throws as ShardCopy::get() and share_cache() do.
PlacedShards load_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                         comm::Communicator& comm);

// Places the shards that are to be read: in a copy, loaded where it is not there, or where they
// are. Collective: processes of one machine share a copy. Machines that do not have the cache in
// its place get it from those that do; UsageError where there are any and copies only when kNeeded.
PlacedShards place_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                          comm::Communicator& comm);

}  // namespace winnow::pipeline
