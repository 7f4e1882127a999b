#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/store/cache_internal.h"

// Common steps of copying shards, whether bytes are read here or come from other machines.
namespace winnow::pipeline {

// Subfolder of a copy for the files beside the shards, as in the root of a cache, on machines
// without the cache.
inline constexpr const char* kFilesFolder = "cache";

// Reads block `number` of a shard into `out` (resized) and verifies it. FormatError if it is not
// what was written, or the file has another size.
void read_block(const InputFile& from, const ShardInfo& shard, std::size_t number,
                std::span<std::byte> out);
bool is_block(const ShardInfo& shard, std::size_t number, BytesView bytes);
std::size_t block_size(const ShardInfo& shard, std::size_t number);

// Size of a folder and its description, besides the files in it.
inline constexpr std::uint64_t kRoomBeside = 64 << 10;
// UsageError if there is not enough space for `what` ("the shards of ...").
void check_room(const std::string& what, std::uint64_t bytes, const std::filesystem::path& memory);

// Runs `act`, which writes to a copy, and adds advice to its SystemError.
void writing(const std::function<void()>& act);

// A copy that this process alone is making. Its folder is locked exclusively, and empty at first.
// Removed with this object unless finished.
class CopyInMaking {
 public:
  CopyInMaking(std::filesystem::path folder, Fd lock, const Partitions& partitions)
      : folder_(std::move(folder)), lock_(std::move(lock)), partitions_(partitions) {}
  CopyInMaking(CopyInMaking&&) noexcept = default;
  ~CopyInMaking();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  // fetched(): the path to which the bytes of a shard are written. place(): moves it into place
  // when complete, with the records of the copy's partitions. From any thread, for several shards
  // at once.
  std::filesystem::path fetched(const ShardInfo& shard) const;
  void place(const ShardInfo& shard) const;
  // Completes the copy; others may join it from now on.
  void finish(const std::string& description);
  double seconds() const;  // since its beginning

 private:
  std::filesystem::path folder_;
  Fd lock_;  // null: finished or moved from
  Partitions partitions_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Finds, joins and makes copies of one cache.
class Copies {
 public:
  // cache   Path, for messages and the description.
  // beside  Bytes that will lie in the folder beside the shards.
  // Errors  As ShardCopy::get().
  Copies(std::filesystem::path cache, ReadManifest read, const CopyOptions& options,
         std::uint64_t beside = 0);

  const std::filesystem::path& cache() const noexcept { return cache_; }
  const Manifest& manifest() const noexcept { return read_.manifest; }
  const std::vector<std::uint32_t>& wanted() const noexcept { return wanted_; }  // shards

  // Joins an existing copy, or begins one after making room. Never waits: returns `busy` if another
  // process is making it or was in the way, or if there is none and `may_make` is false.
  struct Attempt {
    std::optional<ShardCopy> joined = std::nullopt;
    std::optional<CopyInMaking> making = std::nullopt;
    bool busy = false;  // neither, but worth another attempt
  };
  Attempt attempt(bool may_make = true);
  void finish(CopyInMaking& made);  // call it when all files are in place; others may then join
  // Waits a little before the next attempt, after `before` waits. StoppedError if a stop was
  // requested.
  void wait(int before) const;

 private:
  std::filesystem::path folder_of(bool all) const;
  Attempt join(const std::filesystem::path& folder) const;
  Attempt make(const std::filesystem::path& folder);
  std::uint64_t room_for_copy() const;
  void make_room() const;
  void note(const std::string& sentence) const;

  std::filesystem::path cache_;
  ReadManifest read_;
  const CopyOptions& options_;
  std::vector<std::uint32_t> wanted_;
  std::uint64_t room_ = 0;
  std::optional<double> seconds_;  // time it took to make it; nullopt: made by another process
};

}  // namespace winnow::pipeline
