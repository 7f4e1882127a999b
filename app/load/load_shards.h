#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/load/place_shards.h"

namespace winnow::app {

// "loaded 12 GiB in 30 s (400 MiB a second)", or that they were there already.
std::string in_words(const pipeline::ShardCopy& copy);

// Whether a verb reads its shards from a copy in memory, and which part of them each machine holds.
struct MemoryOptions {
  bool memory = false;
  std::filesystem::path folder;  // implies `memory` if given
  int replicas = 1;
  // number of partitions that machines hold parts of; 0: they hold blocks of records
  int partitions = 0;
  int ranks_per_machine = 0;  // 0: as launched
  std::uint64_t segment_mib = 128;
};

// pipeline::load_shards() and place_shards() with the options of the flags. Both report progress.
pipeline::PlacedShards load_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                   Session& session);
pipeline::PlacedShards place_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                    Session& session);

}  // namespace winnow::app
