#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/load/place_shards.h"

namespace winnow::app {

// "loaded 12 GiB in 30 s (400 MiB a second)", or that they were there.
std::string in_words(const pipeline::ShardCopy& copy);

// Whether a verb reads its shards from a copy in memory, and what of them is on each machine.
struct MemoryOptions {
  bool memory = false;
  std::filesystem::path folder;  // given: implies it
  int replicas = 1;
  int partitions = 0;         // machines hold parts of so many partitions; 0: blocks of records
  int ranks_per_machine = 0;  // 0: as they are
  std::uint64_t segment_mib = 128;
};

// pipeline::load_shards() and place_shards() as the flags say, with words on what is done.
pipeline::PlacedShards load_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                   Session& session);
pipeline::PlacedShards place_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                    Session& session);

}  // namespace winnow::app
