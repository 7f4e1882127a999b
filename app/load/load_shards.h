#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session.h"
#include "pipeline/load/place_shards.h"

namespace winnow::app {

// Says how shards came into memory: "shards: 12 GiB, loaded in 30 s (400 MiB/s)", loaded by another
// rank, or there already. `placed` has a copy.
std::string in_words(const pipeline::PlacedShards& placed);

// Options for reading shards from a copy in memory, and for which part of them each machine holds.
struct MemoryOptions {
  bool memory = false;           // whether the verb reads its shards from a copy in memory
  std::filesystem::path folder;  // folder of the copy; if given, `memory` is implied
  int replicas = 1;              // number of copies that all machines have together
  // Number of partitions of the samples, of which each machine holds some; 0: machines hold blocks
  // of records instead.
  int partitions = 0;
  int ranks_per_machine = 0;        // ranks per machine; 0: as launched
  std::uint64_t segment_mib = 128;  // most MiB that a rank exchanges with others at once
};

// pipeline::load_shards() and place_shards() with the user's options. Both show a progress bar.
pipeline::PlacedShards load_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                   Session& session);
pipeline::PlacedShards place_shards(const std::filesystem::path& cache, const MemoryOptions& flags,
                                    Session& session);

}  // namespace winnow::app
