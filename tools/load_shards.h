#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/load/exchange.h"
#include "pipeline/store/shard_copy.h"
#include "tools/command.h"

namespace winnow::tools {

// ShardCopy::get() with a progress bar, sentences and the session's request to stop.
pipeline::ShardCopy load_shards(const std::filesystem::path& cache, pipeline::CopyOptions options,
                                const Session& session);

// "loaded 12 GiB in 30 s (400 MiB a second)", or that they were there.
std::string in_words(const pipeline::ShardCopy& copy);

// Whether a verb reads its shards from a copy in memory, and which of them on each machine.
struct MemoryFlags {
  bool memory = false;
  std::filesystem::path folder;  // given: implies it
  int replicas = 1;
  int partitions = 0;         // machines hold parts of so many partitions; 0: of the shards
  int ranks_per_machine = 0;  // 0: as they are
  std::uint64_t segment_mib = 128;
};
void add_memory_flags(CLI::App& app, MemoryFlags& flags);
void add_machine_flags(CLI::App& app, MemoryFlags& flags);  // of those the ones about machines

// Which machine of a job is to hold which shards; nothing where each is to hold all.
pipeline::Placement divide_shards(const std::filesystem::path& cache, const MemoryFlags& flags,
                                  const Session& session);
// To copy what the machine of this rank is to hold.
pipeline::CopyOptions copy_options(const pipeline::Placement& placement, int rank,
                                   const std::filesystem::path& memory);

struct PlacedShards {
  std::optional<pipeline::ShardCopy> copy;  // none: they are read from the cache itself
  pipeline::Placement placement;
};

// Places the shards that a verb reads: from a copy, loaded where it is not there, because that was
// asked for or because the shards are on a network file system, whose pages are never mapped.
// Collective: processes of one machine share a copy, and machines share a cache.
PlacedShards place_shards(const std::filesystem::path& cache, const MemoryFlags& flags,
                          Session& session);

}  // namespace winnow::tools
