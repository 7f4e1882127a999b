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
#include "pipeline/store/memory.h"
#include "pipeline/store/partition.h"
#include "pipeline/store/parts.h"

namespace winnow::pipeline {

// Shards of caches, copied to where they are read faster: the memory of a machine, or a disk of its
// own. A copy is a folder that docs/formats/memory.md describes. All processes of a user share it.

struct CopyOptions {
  std::filesystem::path memory = kMemoryFolder;  // folder the copies are in
  // Numbers of the shards to copy, ascending; none given: all.
  std::optional<std::vector<std::uint32_t>> shards = std::nullopt;
  Partitions partitions = {};  // whose records of them to copy
  // Ids whose records of them to copy, ascending, read from their packs alone; none given: all. Not
  // together with partitions.
  std::optional<std::vector<IdRun>> runs = std::nullopt;
  bool pinned = false;  // stays until it is dropped; else until the room is needed
  StopRequested stop = {};
  ProgressSink progress = {};                         // in bytes
  std::function<void(const std::string&)> note = {};  // takes sentences for people
};

// A copy in use. It stays where it is, whole, as long as this lives.
class ShardCopy {
 public:
  struct Facts {
    std::filesystem::path folder;
    std::string cache_digest;
    std::uint64_t bytes = 0;
    bool joined = true;
    double seconds = 0;
  };
  // `in_use`: the shared lock of its folder.
  ShardCopy(Facts facts, Fd in_use) : facts_(std::move(facts)), in_use_(std::move(in_use)) {}

  // Joins the copy there is of these records, waiting for it where another process is making it, or
  // makes it: every block, or of ids every record, is compared with its hash on the way, and
  // nothing is left where that fails. Before that, what dead processes left half-made is removed,
  // and, where room is needed, copies that are neither pinned nor used, those longest unused first.
  // Throws UsageError where there is no room, FormatError for a damaged shard, SystemError, and as
  // Cache::open does; StoppedError when asked to stop.
  static ShardCopy get(const std::filesystem::path& cache, const CopyOptions& options);

  const std::filesystem::path& folder() const noexcept {
    return facts_.folder;
  }  // OpenOptions::shards_at
  const std::string& cache_digest() const noexcept { return facts_.cache_digest; }
  std::uint64_t bytes() const noexcept { return facts_.bytes; }
  // It was there: nothing was copied.
  bool joined() const noexcept { return facts_.joined; }
  double seconds() const noexcept { return facts_.seconds; }  // that copying took

 private:
  Facts facts_;
  Fd in_use_;
};

// What there is of this user's in a folder of memory.
struct CopyRow {
  enum class State : std::uint8_t {
    kWhole,
    kLoading,   // somebody is making it
    kHalfMade,  // somebody died making it
    kOfIngest,  // a cache's only shards, put there by winnow ingest --memory
  };
  std::filesystem::path folder;
  State state = State::kHalfMade;
  bool pinned = false;
  bool in_use = false;
  std::vector<int> users;   // processes, as far as the system tells
  std::uint64_t bytes = 0;  // of its files
  // Of whole ones:
  std::filesystem::path cache;  // absolute, as it was when it was made
  std::string cache_digest;
  std::uint64_t shards = 0;
  std::uint64_t of = 0;  // shards of the cache
  Partitions partitions = {};
  std::optional<std::uint64_t> ids =
      std::nullopt;          // that its records can have; none: all of its shards
  std::uint64_t of_ids = 0;  // that the cache has; of such as have not all
};
std::vector<CopyRow> list_copies(const std::filesystem::path& memory = kMemoryFolder);

// Removes the copies of the cache that is, or was, at this path, or has this digest, whatever of it
// they hold; how many bytes that were. UsageError, and nothing removed, where one is in use.
std::vector<CopyRow> drop_copies(const std::filesystem::path& cache, const std::string& digest,
                                 const std::filesystem::path& memory = kMemoryFolder);

// Root of the files beside the shards that copies here have of the cache that is, or was, at this
// path: what a machine without that path was given (pipeline/store/peer_copy.h). Empty where there
// are none; UsageError where they are of several caches, and only a digest can tell which is meant.
std::filesystem::path find_copied_files(const std::filesystem::path& cache,
                                        const std::filesystem::path& memory = kMemoryFolder);

// What is in a copy; of a folder that is none, nothing is known.
struct CopyContents {
  Partitions partitions = {};
  std::optional<std::vector<IdRun>> runs = std::nullopt;  // none: all ids
  // Of copies that lack some: bytes of the file of each shard they have, by its number.
  std::map<std::uint32_t, std::uint64_t> bytes = {};

  bool whole() const noexcept { return partitions.all() && !runs; }
  bool has(SampleId id) const noexcept {
    return partitions.has(id) && (!runs || has_id(*runs, id));
  }
};
// Throws FormatError where `folder` is a copy of another cache than the one of that digest.
CopyContents contents_of_copy(const std::filesystem::path& folder, const std::string& cache_digest);

}  // namespace winnow::pipeline
