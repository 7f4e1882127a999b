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

// Decides from where each machine of a job reads the records of the cache.
namespace winnow::pipeline {

// How the machines of a job divide the cache between them.
struct MachineOptions {
  int replicas = 1;  // copies of the cache that the memory of all machines holds together
  // Number of partitions to divide the samples by; 0: divide by blocks of the shards.
  int partitions = 0;
  // Number of ranks that are treated as one machine; 0: those that are on one machine.
  int ranks_per_machine = 0;
};

// Computes which parts each machine holds: nodes, held shards, parts and partitions of a placement.
// Empty if each machine holds everything. `node_of`: the machine of each rank. Pure.
Placement divide_shards(const Manifest& manifest, const MachineOptions& options,
                        std::vector<int> node_of);

// When shards are copied into memory.
enum class CopyWhen {
  kNeeded,       // copy if shards are on a network file system, where mapping is unsafe
  kNotInMemory,  // copy unless shards are in memory already
  kAlways,
};

struct PlaceOptions {
  CopyOptions copy = {};  // options of the copy; shards, partitions and ids in it are ignored
  CopyWhen when = CopyWhen::kNeeded;
  MachineOptions machines = {};
  std::size_t segment_bytes = std::size_t{128} << 20;  // most bytes that a rank exchanges at once
};

struct PlacedShards {
  std::optional<ShardCopy> copy;  // copy in memory; nullopt: shards are read from the cache itself
  // Whether any rank copied shards into memory in this call; false: all copies existed, or none is
  // used. Equal on all ranks.
  bool copied = false;
  Placement placement;
  std::uint64_t given_bytes = 0;  // bytes sent between machines, all machines together
  double giving_seconds = 0;
};

// Copies the shards, or this machine's part of them, into each machine's memory and pins the copy
// there. Collective. Machines without the cache get it from those that have it
// (pipeline/copies/peer_copy.h).
// Errors  as ShardCopy::get() and share_cache()
PlacedShards load_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                         comm::Communicator& comm);

// Decides whether shards are read from the cache or from a copy in memory, and makes the copy if
// needed. Collective; processes of one machine share a copy. Machines without the cache get it from
// those that have it.
// Errors  UsageError if there are such machines, and copies are made only when kNeeded
PlacedShards place_shards(const std::filesystem::path& cache, const PlaceOptions& options,
                          comm::Communicator& comm);

}  // namespace winnow::pipeline
