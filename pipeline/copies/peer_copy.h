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

// Distributes a cache that exists only on some machines of a job: the others get a copy over the
// communicator. All functions are collective.
namespace winnow::pipeline {

// For each rank, whether anything exists at the path of the cache.
std::vector<bool> find_cache(const std::filesystem::path& cache, comm::Communicator& comm);

// The facts about a distributed cache that all ranks know.
struct SharedCache {
  // A file of the cache other than manifest and shards, as the first rank with the cache has it.
  struct File {
    std::string name;  // path relative to the root of the cache
    std::uint64_t bytes = 0;
    std::string hash;  // XXH3-128 of the file
  };
  Manifest manifest;
  std::string manifest_text;
  std::string digest;
  std::vector<int> givers;  // ranks that have the cache, ascending; may be empty
  std::vector<File> files;  // files besides manifest and shards; empty if there are no givers
};

// Collects the facts about a distributed cache on all ranks. `has` comes from find_cache(). If no
// rank has the cache, every rank must have a copy in `memory` that was made for this path.
// Errors  On all ranks: UsageError if a rank has neither; Error if ranks have different caches; as
//         Cache::open().
SharedCache share_cache(const std::filesystem::path& cache, const std::filesystem::path& memory,
                        const std::vector<bool>& has, comm::Communicator& comm);

struct ShareOptions {
  CopyOptions copy = {};  // options as for ShardCopy::get(), for the memory of this rank's machine
  // If copies consist of ranges of ids: which machine holds which range (the same on all ranks),
  // and the number of this rank's machine. Null: copies consist of whole shards, or of some
  // partitions.
  std::shared_ptr<const Parts> parts = nullptr;
  int machine = 0;
  bool wants_copy = true;  // false: this rank only sends
  // Memory in bytes for sending on a rank; at least four blocks.
  std::size_t segment_bytes = std::size_t{128} << 20;
};

struct SharedCopy {
  std::optional<ShardCopy> copy;
  std::filesystem::path files_at;  // folder with the cache's other files; empty: the cache itself
  std::uint64_t given_bytes = 0;   // bytes sent between ranks, all together
  double seconds = 0;
};

// Makes or joins a copy on each rank that wants one: ShardCopy::get() for all ranks of a job at
// once.
//
// Read     Ranks that have the cache read it. The others get the packs that contain their ids (with
//          partitions, all packs), and those other files of the cache that they lack or that
//          differ.
// Checked  Data is compared with its hash before it is sent and after it arrives.
// Errors   If one rank fails, all throw, and incomplete copies are removed. Those of a killed
//          process are removed by the next process that loads any copy.
SharedCopy share_copies(const std::filesystem::path& cache, const SharedCache& shared,
                        const ShareOptions& options, comm::Communicator& comm);

}  // namespace winnow::pipeline
