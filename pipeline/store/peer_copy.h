#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/parts.h"
#include "pipeline/store/shard_copy.h"

// A cache that is in its place on some machines of a job only: the others get a copy from these,
// over the communicator. All functions are collective.
namespace winnow::pipeline {

// Of each rank whether there is anything at the path of its cache.
std::vector<bool> find_cache(const std::filesystem::path& cache, comm::Communicator& comm);

// What all ranks know of such a cache.
struct SharedCache {
  // What a cache's folder has beside manifest and shards, as the first giver has it.
  struct File {
    std::string name;  // relative to the root
    std::uint64_t bytes = 0;
    std::string hash;  // XXH3-128
  };
  Manifest manifest;
  std::string manifest_text;
  std::string digest;
  std::vector<int> givers;  // ranks that have it in its place, ascending; may be empty
  std::vector<File> files;  // none where there are no givers
};

// `has`: what find_cache() found. Where nobody has the cache, every rank must have a copy of one
// in `memory` that was made for this path. Throws, on all ranks, UsageError where one has neither,
// Error where ranks have different caches, and as Cache::open does.
SharedCache share_cache(const std::filesystem::path& cache, const std::filesystem::path& memory,
                        const std::vector<bool>& has, comm::Communicator& comm);

struct ShareOptions {
  CopyOptions copy = {};  // as for ShardCopy::get; of the memory of this rank's machine
  // Where copies are of runs of ids: those of which machine hold which, the same on all ranks, and
  // the number of this rank's. Null: they are of whole shards, or of their partitions.
  std::shared_ptr<const Parts> parts = nullptr;
  int machine = 0;
  bool wants_copy = true;                              // false: this rank only gives
  std::size_t segment_bytes = std::size_t{128} << 20;  // that giving takes on a rank; at least four
                                                       // blocks
};

struct SharedCopy {
  std::optional<ShardCopy> copy;
  std::filesystem::path files_at;  // root of the other files; empty: the cache's own
  std::uint64_t given_bytes = 0;   // from one rank to another, of all together
  double seconds = 0;
};

// Makes or joins a copy on each rank that wants one: ShardCopy::get for all of a job at once. Those
// that have the cache in its place read it there. The others also get the files beside the shards,
// or those that are not yet as the first giver has them. Of runs of ids the packs are read and
// given that have any of them, of partitions all. What is given is compared with its hash before it
// goes and when it has come. Where one rank fails all throw, and copies that are not whole are
// removed again; that of a process which is killed, by the next that loads anything.
SharedCopy share_copies(const std::filesystem::path& cache, const SharedCache& shared,
                        const ShareOptions& options, comm::Communicator& comm);

}  // namespace winnow::pipeline
