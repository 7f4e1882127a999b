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

struct PlacedShards {
  std::optional<pipeline::ShardCopy> copy;  // none: they are read from the cache itself
  pipeline::Placement placement;
};

// Puts a copy into each machine's memory, pinned: of all shards or its part. Collective. Machines
// that do not have the cache in its place get it from those that do.
PlacedShards load_shards(const std::filesystem::path& cache, const MemoryFlags& flags,
                         Session& session);

// Places the shards that a verb reads: from a copy, loaded where it is not there, because that was
// asked for or because the shards are on a network file system, whose pages are never mapped.
// Collective: processes of one machine share a copy. Where a copy was asked for, machines that do
// not have the cache in its place get it from those that do.
PlacedShards place_shards(const std::filesystem::path& cache, const MemoryFlags& flags,
                          Session& session);

}  // namespace winnow::tools
