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

// Steps of copying shards that are the same whether bytes are read here or come from other
// machines.
namespace winnow::pipeline {

// Subfolder of a copy for the files of a cache besides its shards, on machines without the cache.
// Laid out like the root of a cache.
inline constexpr const char* kFilesFolder = "cache";

// Reads block `number` of a shard into `out` (resized) and verifies its hash. FormatError if it
// does not match, or if the file has another size.
void read_block(const InputFile& from, const ShardInfo& shard, std::size_t number,
                std::span<std::byte> out);
bool is_block(const ShardInfo& shard, std::size_t number, BytesView bytes);
std::size_t block_size(const ShardInfo& shard, std::size_t number);

// Bytes of a folder and its description, besides the files in it.
inline constexpr std::uint64_t kRoomBeside = 64 << 10;
// Throws UsageError if there is not enough space for `what` ("the shards of ...").
void check_room(const std::string& what, std::uint64_t bytes, const std::filesystem::path& memory);

// Runs `act`, which writes to a copy, and adds advice to a SystemError that it throws.
void writing(const std::function<void()>& act);

// A copy that this process alone is making. Its folder is locked exclusively, and empty at first.
// The destructor removes it unless it is finished.
class CopyInMaking {
 public:
  CopyInMaking(std::filesystem::path folder, Fd lock, const Partitions& partitions)
      : folder_(std::move(folder)), lock_(std::move(lock)), partitions_(partitions) {}
  CopyInMaking(CopyInMaking&&) noexcept = default;
  ~CopyInMaking();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  // fetched() is the path to which the bytes of a shard are written. place() moves the complete
  // file to its final path, with only the records of the copy's partitions. Callable from any
  // thread, for several shards at once.
  std::filesystem::path fetched(const ShardInfo& shard) const;
  void place(const ShardInfo& shard) const;
  // Completes the copy. From now on other processes may use it.
  void finish(const std::string& description);
  double seconds() const;  // time since the copy was begun

 private:
  std::filesystem::path folder_;
  Fd lock_;  // null: finished or moved from
  Partitions partitions_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Finds, joins and makes copies of the shards of one cache.
class Copies {
 public:
  // cache   path of the cache, for messages and the description
  // beside  bytes that the folder will have besides the shards
  // Errors  as ShardCopy::get()
  Copies(std::filesystem::path cache, ReadManifest read, const CopyOptions& options,
         std::uint64_t beside = 0);

  const std::filesystem::path& cache() const noexcept { return cache_; }
  const Manifest& manifest() const noexcept { return read_.manifest; }
  // Numbers of the shards to copy.
  const std::vector<std::uint32_t>& wanted() const noexcept { return wanted_; }

  // Joins an existing copy, or frees space and begins one. Never waits: returns `busy` if another
  // process is making the copy or was in the way, or if there is none and `may_make` is false.
  struct Attempt {
    std::optional<ShardCopy> joined = std::nullopt;
    std::optional<CopyInMaking> making = std::nullopt;
    bool busy = false;  // neither joined nor begun, but worth another attempt
  };
  Attempt attempt(bool may_make = true);
  void finish(CopyInMaking& made);  // call it when all files are in place; others may then join
  // Waits a little before the next attempt. `before`: number of waits so far; on the second wait
  // the user is told. StoppedError if a stop was requested.
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
  // Time it took to make the copy; nullopt: another process made it.
  std::optional<double> seconds_;
};

}  // namespace winnow::pipeline
