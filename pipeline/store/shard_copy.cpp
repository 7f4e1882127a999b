#include "pipeline/store/shard_copy.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/failpoint.h"
#include "common/utf8.h"
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/json_internal.h"
#include "pipeline/store/pack_writer.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint32_t>;

constexpr int kVersion = 1;
constexpr const char* kDescription = "copy.json";  // written last
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostPartitions = std::numeric_limits<int>::max();
constexpr std::size_t kThreads = 4;  // that copy

std::string copy_prefix() { return memory_prefix() + "copy-"; }

std::string in_mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

fs::path place_of(const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); }

struct Description {
  std::string cache;  // its path as UTF-8, see common/utf8.h
  std::string cache_digest;
  Numbers shards;
  std::uint64_t of = 0;  // shards of the cache
  Partitions partitions = {};
  std::vector<std::uint64_t> shard_bytes = {};  // of each file
  bool pinned = false;

  std::uint64_t bytes() const {
    return std::accumulate(shard_bytes.begin(), shard_bytes.end(), std::uint64_t{0});
  }
};

void write_description(const fs::path& folder, const Description& d) {
  const Json json{{"version", kVersion},
                  {"cache", d.cache},
                  {"cache_digest", d.cache_digest},
                  {"shards", d.shards},
                  {"of", d.of},
                  {"partitions", {d.partitions.begin, d.partitions.end, d.partitions.of}},
                  {"shard_bytes", d.shard_bytes},
                  {"pinned", d.pinned}};
  write_file_durably(folder / kDescription, json.dump(2) + "\n");
}

// None where it is not there or damaged: then there is no telling what the folder holds.
std::optional<Description> read_description(const fs::path& folder) {
  const fs::path file = folder / kDescription;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  std::uint64_t version = 0;
  try {
    const JsonObject in(parse_json(read_text(file), file.string()), file.string());
    version = in.number("version");
    if (version == kVersion) {
      Description d;
      d.cache = in.text("cache");
      d.cache_digest = in.text("cache_digest");
      for (const std::uint64_t shard : in.numbers("shards")) {
        if (shard > kMost) return std::nullopt;
        d.shards.push_back(static_cast<std::uint32_t>(shard));
      }
      d.of = in.number("of");
      const std::vector<std::uint64_t> partitions = in.numbers("partitions");
      if (partitions.size() != 3 || partitions[0] > partitions[1] ||
          partitions[1] > partitions[2] || partitions[2] < 1 || partitions[2] > kMostPartitions) {
        return std::nullopt;
      }
      d.partitions = {static_cast<int>(partitions[0]), static_cast<int>(partitions[1]),
                      static_cast<int>(partitions[2])};
      d.shard_bytes = in.numbers("shard_bytes");
      if (d.shard_bytes.size() != d.shards.size()) return std::nullopt;
      d.pinned = in.any("pinned").is_boolean() && in.any("pinned").get<bool>();
      return d;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  throw FormatError(folder.string() + " was made by another version of winnow; remove it by that");
}

bool is_at(const Fd& fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd.get(), &opened) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

// So that a removal which is cut short leaves a half-made copy, never one that seems whole.
void remove_copy(const fs::path& folder) {
  remove_file(folder / kDescription);
  remove_tree(folder);
}

// Null where it is not there (any more).
Fd open_copy(const fs::path& folder) {
  if (!is_our_memory(folder, folder.parent_path())) {
    std::error_code ignored;
    if (fs::symlink_status(folder, ignored).type() == fs::file_type::not_found) return {};
    throw UsageError(folder.string() +
                     " is a link or another user's, so no shards are kept there; remove it, or "
                     "name another folder by --memory-dir");
  }
  return Fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<fs::path> our_folders(const fs::path& memory) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(memory, ignored)) {
    const fs::path folder = memory / entry.path().filename();
    if (is_our_memory(folder, memory)) folders.push_back(folder);
  }
  std::ranges::sort(folders);
  return folders;
}

bool is_copy(const fs::path& folder) {
  return folder.filename().string().starts_with(copy_prefix());
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::uint64_t more = file.file_size(ignored);
    if (!ignored) bytes += more;
  }
  return bytes;
}

auto writing(const auto& act) {
  try {
    return act();
  } catch (const SystemError& error) {
    throw SystemError(std::string(error.what()) +
                      "; the copy begun there is removed again: make room (winnow cache list shows "
                      "what is kept), or name another folder by --memory-dir");
  }
}

// The file of a shard in a folder of copies.
fs::path place_in(const fs::path& folder, const ShardInfo& shard) {
  return folder / fs::path(shard.file).filename();
}

// Copies shards, or those of their records that are in some partitions, comparing what is read with
// its hashes.
class Copier {
 public:
  Copier(const CachePaths& paths, const Manifest& manifest, const Numbers& shards,
         const fs::path& to, const CopyOptions& options)
      : paths_(paths), manifest_(manifest), shards_(shards), to_(to), options_(options) {
    for (const std::uint32_t shard : shards) progress_.total += manifest.shards[shard].bytes;
    shard_bytes_.resize(shards.size());
  }

  // By a few threads: storage that is far away answers several at once, and one hashes as others
  // wait. The bytes of each file that was made.
  std::vector<std::uint64_t> run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(kThreads, shards_.size()); ++i) {
      threads.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    return std::move(shard_bytes_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < shards_.size() && !failed_; i = next_++) {
      try {
        const ShardInfo& shard = manifest_.shards[shards_[i]];
        shard_bytes_[i] =
            options_.partitions.all() ? fetch(shard, place_in(to_, shard)) : copy_some(shard);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (i < failed_at_) {
          failed_at_ = i;
          error_ = std::current_exception();
        }
        failed_ = true;
      }
    }
  }

  // The bytes of the file, as read. Cut short where another thread failed.
  std::uint64_t fetch(const ShardInfo& shard, const fs::path& file) {
    const InputFile from(path_of(paths_, shard));
    if (from.size() != shard.bytes) {
      throw FormatError(from.path().string() + " is damaged: it has " +
                        std::to_string(from.size()) + " bytes of " + std::to_string(shard.bytes) +
                        "; ingest again");
    }
    DurableFile to = writing([&] { return DurableFile(file); });
    Bytes buffer(std::min(kBlockBytes, shard.bytes));
    for (std::size_t i = 0; i < shard.block_hashes.size() && !failed_; ++i) {
      const std::uint64_t at = i * kBlockBytes;
      const std::span block = std::span(buffer).first(std::min(kBlockBytes, shard.bytes - at));
      from.read_at(at, block);
      if (to_hex(xxh3_64(block)) != shard.block_hashes[i]) {
        throw FormatError(from.path().string() + " is damaged: bytes " + std::to_string(at) +
                          " to " + std::to_string(at + block.size() - 1) +
                          " are not what was written; ingest again");
      }
      writing([&] { to.write_at(at, block); });
      count(block.size());
    }
    if (!failed_) writing([&] { to.finish(); });
    return shard.bytes;
  }

  // By way of a whole copy, since what LMDB reads is mapped, and the shard may be on storage that
  // nothing is mapped from.
  std::uint64_t copy_some(const ShardInfo& shard) {
    const fs::path file = place_in(to_, shard);
    const fs::path whole = file.string() + ".whole";
    fetch(shard, whole);
    if (failed_) return 0;
    {
      const lmdb::Reader from(whole);
      std::optional<PackWriter> to;
      writing([&] { to.emplace(file); });
      for (const auto& [key, pack] : from.all()) {
        for (const RecordView& record : unpack_records(pack, path_of(paths_, shard).string())) {
          if (options_.partitions.has(record.id)) writing([&] { to->put(record); });
        }
      }
      writing([&] { to->finish(); });
    }
    remove_file(whole);
    return fs::file_size(file);
  }

  void count(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    progress_.done += bytes;
    if (options_.progress) options_.progress(progress_);
    if (options_.stop && options_.stop()) {
      throw StoppedError(
          "stopped as asked before all shards were loaded; what was loaded is "
          "removed again");
    }
  }

  const CachePaths& paths_;
  const Manifest& manifest_;
  const Numbers& shards_;
  const fs::path& to_;
  const CopyOptions& options_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::vector<std::uint64_t> shard_bytes_;  // of shard i of shards_, by whose thread makes it
  std::mutex mutex_;                        // of what follows
  Progress progress_;
  std::size_t failed_at_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
};

// Finds, joins and makes copies of one cache.
class Copies {
 public:
  Copies(const fs::path& cache, const CopyOptions& options)
      : paths_{cache}, options_(options), read_(read_manifest(paths_)) {
    const std::size_t count = read_.manifest.shards.size();
    if (count == 0) {
      throw UsageError(cache.string() + " holds fingerprints only: it has no shards to load");
    }
    if (options.shards) {
      wanted_ = *options.shards;
    } else {
      wanted_.resize(count);
      std::iota(wanted_.begin(), wanted_.end(), std::uint32_t{0});
    }
    room_ = room_for_copy();
    std::error_code ignored;
    if (!fs::is_directory(options.memory, ignored)) {
      throw UsageError("there is no folder " + options.memory.string() +
                       " to keep shards in; name another by --memory-dir");
    }
    if (storage_at(options.memory) == Storage::kNetwork) {
      throw UsageError(options.memory.string() +
                       " is on a network file system, which shards are not mapped from; name a "
                       "folder in memory or on a local disk by --memory-dir");
    }
  }

  const std::string& digest() const noexcept { return read_.digest; }
  bool wants_all() const noexcept {
    return wanted_.size() == read_.manifest.shards.size() && options_.partitions.all();
  }

  // Of all shards, or of those that are wanted.
  fs::path folder_of(bool all) const {
    std::string name = copy_prefix() + read_.digest;
    if (!all) {
      Numbers what = wanted_;
      if (const Partitions& some = options_.partitions; !some.all()) {
        for (const int number : {some.begin, some.end, some.of}) {
          what.push_back(static_cast<std::uint32_t>(number));
        }
      }
      name += "-" + to_hex(xxh3_64(std::as_bytes(std::span(what))));
    }
    return options_.memory / name;
  }

  struct Joined {
    Fd lock;
    std::uint64_t bytes = 0;
  };

  // The copy, where it is there and whole.
  std::optional<Joined> join(const fs::path& folder) const {
    Fd fd = open_copy(folder);
    if (!fd) return std::nullopt;
    wait_for(fd, LOCK_SH, folder);
    if (!is_at(fd, folder)) return std::nullopt;
    const std::optional<Description> found = read_description(folder);
    if (!found) return std::nullopt;
    check(folder, *found);
    if (options_.pinned && !found->pinned) {
      Description pinned = *found;
      pinned.pinned = true;
      write_description(folder, pinned);
    }
    ::utimensat(AT_FDCWD, (folder / kDescription).c_str(), nullptr, 0);  // it was used just now
    return Joined{std::move(fd), found->bytes()};
  }

  // Makes it; false: another process did, or was in the way. It is to be joined then.
  bool make(const fs::path& folder) const {
    const bool fault = fault_before("dir.create", folder);
    if (fault || (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)) {
      throw_errno("cannot make the folder " + folder.string());
    }
    fault_after("dir.create", folder);
    const Fd fd = open_copy(folder);
    if (!fd) return false;
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw_errno("cannot lock " + folder.string());
      // Who makes it may go on using it, without a moment between for an exclusive lock.
      wait_for(fd, LOCK_SH, folder);
      return false;
    }
    if (!is_at(fd, folder) || read_description(folder)) return false;
    try {
      clear(folder);
      make_room();
      Copier copier(paths_, read_.manifest, wanted_, folder, options_);
      write_description(folder, {.cache = to_utf8(place_of(paths_.root).string()),
                                 .cache_digest = read_.digest,
                                 .shards = wanted_,
                                 .of = read_.manifest.shards.size(),
                                 .partitions = options_.partitions,
                                 .shard_bytes = copier.run(),
                                 .pinned = options_.pinned});
    } catch (...) {
      remove_copy(folder);
      throw;
    }
    return true;
  }

 private:
  void note(const std::string& sentence) const {
    if (options_.note) options_.note(sentence);
  }

  // Asks again and again, so that waiting can be stopped.
  void wait_for(const Fd& fd, int operation, const fs::path& folder) const {
    bool told = false;
    while (::flock(fd.get(), operation | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw_errno("cannot lock " + folder.string());
      if (options_.stop && options_.stop()) {
        throw StoppedError("stopped as asked while another process was loading the shards");
      }
      if (!std::exchange(told, true)) {
        note("waiting for another process that is loading " + paths_.root.string() + " into " +
             options_.memory.string());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void check(const fs::path& folder, const Description& found) const {
    for (const std::uint32_t number : wanted_) {
      const ShardInfo& shard = read_.manifest.shards[number];
      const fs::path file = place_in(folder, shard);
      const auto at = std::ranges::lower_bound(found.shards, number) - found.shards.begin();
      const auto i = static_cast<std::size_t>(at);
      const std::uint64_t bytes =
          found.partitions.all() || i == found.shards.size() ? shard.bytes : found.shard_bytes[i];
      std::error_code error;
      if (fs::file_size(file, error) == bytes && !error) continue;
      throw FormatError(file.string() + ", a copy of a shard of " + paths_.root.string() +
                        ", is damaged or missing; remove the copy with winnow cache drop " +
                        paths_.root.string() + " and load it again");
    }
  }

  // About as many bytes as it takes at most to make it.
  std::uint64_t room_for_copy() const {
    std::uint64_t bytes = 0;
    std::uint64_t largest = 0;
    for (const std::uint32_t shard : wanted_) {
      bytes += read_.manifest.shards.at(shard).bytes;
      largest = std::max(largest, read_.manifest.shards[shard].bytes);
    }
    const Partitions& some = options_.partitions;
    if (some.all()) return bytes;
    // Of any records a share is about as large, and some shards are there whole for a while.
    const double share = static_cast<double>(some.end - some.begin) / some.of;
    return static_cast<std::uint64_t>(1.05 * share * static_cast<double>(bytes)) +
           std::min(kThreads, wanted_.size()) * largest;
  }

  static void clear(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) remove_file(entry.path());
  }

  // Of other copies, removes those that nobody can use, and as many as need be of those that nobody
  // does.
  void make_room() const {
    struct Unused {
      fs::path folder;
      Fd lock;
      Description description;
      fs::file_time_type used;
    };
    std::vector<Unused> unused;
    for (const fs::path& folder : our_folders(options_.memory)) {
      if (!is_copy(folder)) continue;
      std::optional<Fd> lock = lock_unused(folder);
      if (!lock || !*lock || !is_at(*lock, folder)) continue;  // used, or gone just now
      const std::optional<Description> found = read_description(folder);
      if (!found) {
        note("removed " + folder.string() + " (" + in_mebibytes(bytes_in(folder)) +
             "), which a process that died had begun to load");
        remove_copy(folder);
      } else if (!found->pinned) {
        std::error_code ignored;
        const auto used = fs::last_write_time(folder / kDescription, ignored);
        unused.push_back({folder, *std::move(lock), *found, used});
      }
    }
    constexpr std::uint64_t kBeside = 64 << 10;  // what a folder and a description take
    std::ranges::stable_sort(unused, std::less<>(), &Unused::used);
    Room room = room_at(options_.memory);
    for (const Unused& copy : unused) {
      if (room.bytes() >= room_ + kBeside) break;
      remove_copy(copy.folder);
      note("removed the copy of " + from_utf8(copy.description.cache) + " (" +
           in_mebibytes(copy.description.bytes()) + "), which nobody uses, to make room");
      room = room_at(options_.memory);
    }
    if (room.bytes() >= room_ + kBeside) return;
    throw UsageError("the shards of " + paths_.root.string() + " need " + in_mebibytes(room_) +
                     " in " + options_.memory.string() + ", where there is room for " +
                     to_string(room) +
                     "; make room (winnow cache list shows what is kept), or name a folder on a "
                     "local disk by --memory-dir");
  }

  CachePaths paths_;
  const CopyOptions& options_;
  ReadManifest read_;
  Numbers wanted_;
  std::uint64_t room_ = 0;
};

}  // namespace

ShardCopy ShardCopy::get(const fs::path& cache, const CopyOptions& options) {
  const Copies copies(cache, options);
  ShardCopy copy;
  copy.digest_ = copies.digest();
  copy.joined_ = true;
  const auto joins = [&](const fs::path& folder) {
    std::optional<Copies::Joined> joined = copies.join(folder);
    if (!joined) return false;
    copy.in_use_ = std::move(joined->lock);
    copy.bytes_ = joined->bytes;
    copy.folder_ = folder;
    return true;
  };
  if (joins(copies.folder_of(/*all=*/true))) return copy;  // which has any part
  const fs::path folder = copies.folder_of(copies.wants_all());
  while (!joins(folder)) {
    const auto begin = Clock::now();
    copy.joined_ = !copies.make(folder);
    copy.seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return copy;
}

std::vector<CopyRow> list_copies(const fs::path& memory) {
  std::vector<CopyRow> rows;
  for (const fs::path& folder : our_folders(memory)) {
    CopyRow row;
    row.folder = folder;
    row.bytes = bytes_in(folder);
    row.in_use = !lock_unused(folder);
    if (row.in_use) row.users = users_of(folder);
    const std::optional<Description> found =
        is_copy(folder) ? read_description(folder) : std::nullopt;
    if (found) {
      row.state = CopyRow::State::kWhole;
      row.pinned = found->pinned;
      row.cache = from_utf8(found->cache);
      row.cache_digest = found->cache_digest;
      row.shards = found->shards.size();
      row.of = found->of;
      row.partitions = found->partitions;
    } else if (is_copy(folder)) {
      row.state = row.in_use ? CopyRow::State::kLoading : CopyRow::State::kHalfMade;
    } else {
      row.state = CopyRow::State::kOfIngest;
      row.pinned = true;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CopyRow> drop_copies(const fs::path& cache, const std::string& digest,
                                 const fs::path& memory) {
  const fs::path at = place_of(cache);
  const auto is_meant = [&](const CopyRow& row) {
    if (row.state == CopyRow::State::kOfIngest) return false;
    if (row.state == CopyRow::State::kWhole && row.cache == at) return true;
    return !digest.empty() && row.folder.filename().string().starts_with(copy_prefix() + digest);
  };
  std::vector<CopyRow> rows = list_copies(memory);
  std::erase_if(rows, std::not_fn(is_meant));
  std::vector<Fd> locks;
  for (const CopyRow& row : rows) {
    std::optional<Fd> lock = lock_unused(row.folder);
    if (!lock) {
      throw UsageError("nothing of " + cache.string() +
                       " was removed: " + in_words(users_of(row.folder)) + " in " +
                       row.folder.string() + "; wait for it, or end it");
    }
    locks.push_back(*std::move(lock));
  }
  for (const CopyRow& row : rows) remove_copy(row.folder);
  return rows;
}

CopyContents contents_of_copy(const fs::path& folder, const std::string& cache_digest) {
  const std::optional<Description> found = read_description(folder);
  if (!found) return {};
  if (found->cache_digest != cache_digest) {
    throw FormatError(folder.string() + " is a copy of " + from_utf8(found->cache) +
                      " as it was before it was replaced; start again");
  }
  CopyContents contents{.partitions = found->partitions};
  if (contents.partitions.all()) return contents;
  for (std::size_t i = 0; i < found->shards.size(); ++i) {
    contents.bytes[found->shards[i]] = found->shard_bytes[i];
  }
  return contents;
}

}  // namespace winnow::pipeline
