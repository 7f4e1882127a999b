#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/progress.h"
#include "common/stop.h"
#include "pipeline/store/copy_description.h"
#include "pipeline/store/memory.h"
#include "pipeline/store/partition.h"
#include "pipeline/store/parts.h"

namespace winnow::pipeline {

// Copies of caches' shards that are faster to read: in a machine's memory, or on its own disk. A
// copy is a folder (docs/formats/memory.md), shared by all processes of a user.

struct CopyOptions {
  std::filesystem::path memory = kMemoryFolder;  // parent folder of the copies
  // Numbers of the shards to copy, ascending; nullopt: all.
  std::optional<std::vector<std::uint32_t>> shards = std::nullopt;
  Partitions partitions = {};  // copy only the records in these partitions
  // Copy only the records with these ids (ascending), and read only their packs; nullopt: all. Not
  // together with partitions.
  std::optional<std::vector<IdRun>> runs = std::nullopt;
  bool pinned = false;  // the copy stays until it is dropped; else until its space is needed
  StopRequested stop = {};
  ProgressSink progress = {};                         // progress in bytes
  std::function<void(const std::string&)> note = {};  // sink for user-facing messages
};

// A copy in use. It stays in place and complete while this object lives.
class ShardCopy {
 public:
  struct Facts {
    std::filesystem::path folder;
    std::string cache_digest;
    std::uint64_t bytes = 0;
    bool joined = true;
    double seconds = 0;
  };
  // `in_use`: the shared lock of the copy's folder.
  ShardCopy(Facts facts, Fd in_use) : facts_(std::move(facts)), in_use_(std::move(in_use)) {}

  // Joins the existing copy of the requested records, waiting if another process is making it, or
  // makes it.
  // Checked  Every block (with ids, every record) is compared with its hash. After a failure
  //          nothing remains.
  // Room     First removes the remains of ended processes. If more space is needed, removes copies
  //          that are neither pinned nor in use, least recently used first.
  // Errors   UsageError: not enough space. FormatError: a damaged shard. SystemError. As
  //          Cache::open(). StoppedError.
  static ShardCopy get(const std::filesystem::path& cache, const CopyOptions& options);

  const std::filesystem::path& folder() const noexcept {
    return facts_.folder;
  }  // for OpenOptions::shards_at
  const std::string& cache_digest() const noexcept { return facts_.cache_digest; }
  std::uint64_t bytes() const noexcept { return facts_.bytes; }
  // Whether the copy existed already, so that nothing was copied.
  bool joined() const noexcept { return facts_.joined; }
  double seconds() const noexcept { return facts_.seconds; }  // time of copying

 private:
  Facts facts_;
  Fd in_use_;
};

// A folder in memory with this user's shards: a copy, or the shards of a cache.
struct CopyRow {
  enum class State : std::uint8_t {
    kWhole,
    kLoading,   // a process is making the copy
    kHalfMade,  // a process ended while making the copy
    kOfIngest,  // a cache's only shards, put there by winnow ingest --memory
  };
  std::filesystem::path folder;
  State state = State::kHalfMade;
  bool pinned = false;
  bool in_use = false;
  std::vector<int> users;   // ids of processes that use it, as far as the system tells
  std::uint64_t bytes = 0;  // size of its files
  // The following fields are only set for complete copies.
  std::filesystem::path cache;  // absolute path of the cache when the copy was made
  std::string cache_digest;
  std::uint64_t shards = 0;
  std::uint64_t of = 0;  // number of shards that the cache has
  Partitions partitions = {};
  // Number of ids that its records can have; nullopt: all ids of its shards.
  std::optional<std::uint64_t> ids = std::nullopt;
  std::uint64_t of_ids = 0;  // number of ids of the cache; only for copies without all ids
};
std::vector<CopyRow> list_copies(const std::filesystem::path& memory = kMemoryFolder);

// Removes the copies, complete or not, of the cache that is or was at this path, or that has this
// digest. Returns what was removed. UsageError if one is in use; then nothing is removed.
std::vector<CopyRow> drop_copies(const std::filesystem::path& cache, const std::string& digest,
                                 const std::filesystem::path& memory = kMemoryFolder);

// Folder with the other files of the cache, besides shards, that a copy of the cache at this
// (perhaps missing) path has; made by pipeline/copies/peer_copy.h. Empty if there is none.
// UsageError if there are copies of several caches, so that only a digest can tell them apart.
std::filesystem::path find_copied_files(const std::filesystem::path& cache,
                                        const std::filesystem::path& memory = kMemoryFolder);

}  // namespace winnow::pipeline
