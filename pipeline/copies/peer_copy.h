#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/parts.h"

// Distributes a cache that only exists on some machines of a job: the others get a copy over the
// communicator. All functions are collective.
namespace winnow::pipeline {

// For each rank, whether anything exists at the path of its cache.
std::vector<bool> find_cache(const std::filesystem::path& cache, comm::Communicator& comm);

// The description of such a cache, known to all ranks.
struct SharedCache {
  // A file of the cache besides manifest and shards, as on the first giver.
  struct File {
    std::string name;  // relative to the root
    std::uint64_t bytes = 0;
    std::string hash;  // XXH3-128
  };
  Manifest manifest;
  std::string manifest_text;
  std::string digest;
  std::vector<int> givers;  // ranks with the cache in place, ascending; may be empty
  std::vector<File> files;  // empty if there are no givers
};

// Collects this information. `has` comes from find_cache(). If no rank has the cache, every rank
// must have a copy in `memory` that was made for this path.
// Errors  On all ranks: UsageError if one has neither; Error if ranks have different caches; as
//         Cache::open().
SharedCache share_cache(const std::filesystem::path& cache, const std::filesystem::path& memory,
                        const std::vector<bool>& has, comm::Communicator& comm);

struct ShareOptions {
  CopyOptions copy = {};  // as for ShardCopy::get(), for the memory of this rank's machine
  // If copies consist of ranges of ids: which machine holds which (the same on all ranks), and the
  // number of this rank's machine. Null: copies consist of whole shards, or of their partitions.
  std::shared_ptr<const Parts> parts = nullptr;
  int machine = 0;
  bool wants_copy = true;  // false: this rank only gives
  // Memory for giving on a rank; at least four blocks.
  std::size_t segment_bytes = std::size_t{128} << 20;
};

struct SharedCopy {
  std::optional<ShardCopy> copy;
  std::filesystem::path files_at;  // root of the other files; empty: the cache itself
  std::uint64_t given_bytes = 0;   // sent between ranks, in all
  double seconds = 0;
};

// Makes or joins a copy on each rank that wants one: ShardCopy::get() for all of a job at once.
//
// Read     Ranks with the cache in place read it there. The others get the packs that contain their
//          ids (with partitions, all packs), and those files beside the shards that differ from the
//          first giver's.
// Checked  Data is compared with its hash before it is sent and after it arrives.
// Errors   If one rank fails, all throw, and incomplete copies are removed. Those of a killed
//          process are removed by the next process that loads anything.
SharedCopy share_copies(const std::filesystem::path& cache, const SharedCache& shared,
                        const ShareOptions& options, comm::Communicator& comm);

}  // namespace winnow::pipeline
