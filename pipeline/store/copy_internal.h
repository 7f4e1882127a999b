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
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/shard_copy.h"

// What copies of shards are made by, be the bytes read here or given by other machines.
namespace winnow::pipeline {

// Where in the folder of a copy the files beside the shards are, as in the root of a cache, on a
// machine that has no such root.
inline constexpr const char* kFilesFolder = "cache";

// Block `number` of a shard of a cache, read into `out` (resized) and found to be what was written.
// FormatError where it is not, or the file has another size than it had.
void read_block(const InputFile& from, const ShardInfo& shard, std::size_t number,
                std::span<std::byte> out);
bool is_block(const ShardInfo& shard, std::size_t number, BytesView bytes);
std::size_t block_size(const ShardInfo& shard, std::size_t number);

// What a folder and its description take beside the files in it.
inline constexpr std::uint64_t kRoomBeside = 64 << 10;
// UsageError where there is less room than `what` ("the shards of ...") need.
void check_room(const std::string& what, std::uint64_t bytes, const std::filesystem::path& memory);

// Runs `act`, which writes to a copy; its SystemError says what to do.
void writing(const std::function<void()>& act);

// A copy that this process is making, and nobody else: its folder is locked exclusively, and empty
// to begin with. Removed with this unless it is finished.
class CopyInMaking {
 public:
  CopyInMaking(std::filesystem::path folder, Fd lock, const Partitions& partitions)
      : folder_(std::move(folder)), lock_(std::move(lock)), partitions_(partitions) {}
  CopyInMaking(CopyInMaking&&) noexcept = default;
  ~CopyInMaking();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  // Where the bytes of a shard are to be put; then, when all are there, to be placed: of the
  // records those of the copy's partitions. From any thread, of several shards at once.
  std::filesystem::path fetched(const ShardInfo& shard) const;
  void place(const ShardInfo& shard) const;
  // Whole with this: anybody may join it.
  void finish(const std::string& description);
  double seconds() const;  // since it was begun

 private:
  std::filesystem::path folder_;
  Fd lock_;  // null: finished or moved from
  Partitions partitions_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Finds, joins and makes copies of one cache.
class Copies {
 public:
  // `cache` is its path, for messages and the description; `beside`: bytes that are to lie in the
  // folder beside the shards. Throws as ShardCopy::get does.
  Copies(std::filesystem::path cache, ReadManifest read, const CopyOptions& options,
         std::uint64_t beside = 0);

  const std::filesystem::path& cache() const noexcept { return cache_; }
  const Manifest& manifest() const noexcept { return read_.manifest; }
  const std::vector<std::uint32_t>& wanted() const noexcept { return wanted_; }  // shards

  // Joins the copy there is, or begins one, with room made for it. Does not wait: neither where
  // another process is making it, or was in the way just now, or where there is none and `may_make`
  // is false.
  struct Attempt {
    std::optional<ShardCopy> joined = std::nullopt;
    std::optional<CopyInMaking> making = std::nullopt;
    bool busy = false;  // neither, and worth another attempt
  };
  Attempt attempt(bool may_make = true);
  void finish(CopyInMaking& made);  // with all its files in place; to be joined then
  // Waits a little before another one, after having done so `before` times. StoppedError when asked
  // to stop.
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
  std::optional<double> seconds_;  // that it took to make it; nobody here did
};

}  // namespace winnow::pipeline
