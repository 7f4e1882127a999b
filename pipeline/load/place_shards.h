#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/manifest.h"

// Decides from where each machine of a job reads the records of its cache.
namespace winnow::pipeline {

// How the machines of a job divide a cache.
struct MachineOptions {
  int replicas = 1;           // copies in the memory of all machines together
  int partitions = 0;         // number of partitions to divide by; 0: by blocks of the shards
  int ranks_per_machine = 0;  // 0: actual machines; else this many ranks are treated as a machine
};

// The nodes, held shards, parts and partitions of a placement; empty if each machine holds
// everything. `node_of` is the machine of each rank. Pure.
Placement divide_shards(const Manifest& manifest, const MachineOptions& options,
                        std::vector<int> node_of);

// When shards are copied.
enum class CopyWhen {
  kNeeded,       // if they are on a network file system, from which they must not be mapped
  kNotInMemory,  // if they are not in memory already
  kAlways,
};

struct PlaceOptions {
  CopyOptions copy = {};  // its shards, partitions and ids are ignored
  CopyWhen when = CopyWhen::kNeeded;
  MachineOptions machines = {};
  std::size_t segment_bytes = std::size_t{128} << 20;  // limit of what a rank exchanges at once
};

struct PlacedShards {
  std::optional<ShardCopy> copy;  // nullopt: read from the cache itself
  Placement placement;
  std::uint64_t given_bytes = 0;  // sent between machines, in all
  double giving_seconds = 0;
};

// Loads a pinned copy of all shards, or of its part, into each machine's memory. Collective.
// Machines without the cache get it from those that have it (pipeline/copies/peer_copy.h).
// Errors  As ShardCopy::get() and share_cache().
PlacedShards load_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                         comm::Communicator& comm);

// Decides where shards are read: from a copy, which is loaded if need be, or in place. Collective;
// processes of one machine share a copy. Machines without the cache get it from those that have it.
// Errors  UsageError if there are such machines and copies are made only when kNeeded.
PlacedShards place_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                          comm::Communicator& comm);

}  // namespace winnow::pipeline
