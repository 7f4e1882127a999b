#include "pipeline/copies/shard_copy.h"

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
#include "pipeline/copies/copy_internal.h"
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/json_internal.h"
#include "pipeline/store/pack_writer.h"
#include "pipeline/store/shard_file.h"
#include "pipeline/store/shard_part.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint32_t>;

constexpr const char* kPin = "pinned";  // empty
constexpr std::size_t kThreads = 4;     // copying threads

std::string copy_prefix() { return memory_prefix() + "copy-"; }

std::string in_mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

fs::path place_of(const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); }

bool is_pinned(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kPin, ignored);
}

// A separate file, so that several processes may pin at once.
void pin(const fs::path& folder) {
  if (is_pinned(folder)) return;
  const fs::path file = folder / kPin;
  if (!Fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))) {
    throw_errno("cannot make " + file.string());
  }
  fsync_directory(folder);
}

bool is_at(const Fd& fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd.get(), &opened) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

// An interrupted removal then leaves an incomplete copy, never one that seems complete.
void remove_copy(const fs::path& folder) {
  remove_file(folder / kCopyDescription);
  remove_tree(folder);
}

// Null if it does not exist (any more).
Fd open_copy(const fs::path& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (fd && ::fstat(fd.get(), &info) == 0 && info.st_uid == ::geteuid()) return fd;
  if (!fd && errno == ENOENT) return {};
  if (!fd && errno != ENOTDIR && errno != ELOOP && errno != EACCES) {
    throw_errno("cannot open " + folder.string());
  }
  throw UsageError(folder.string() +
                   " is a link or belongs to another user, so no shards are kept there; remove it, "
                   "or name another folder with --memory-dir");
}

bool is_copy(const fs::path& folder) {
  return folder.filename().string().starts_with(copy_prefix());
}

// Copies made by another version of winnow are left alone.
bool is_of_this_version(const fs::path& folder) {
  try {
    read_copy_description(folder);
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

std::vector<fs::path> our_folders(const fs::path& memory) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(memory, ignored)) {
    const fs::path folder = memory / entry.path().filename();
    if (!is_our_memory(folder, memory)) continue;
    if (!is_copy(folder) || is_of_this_version(folder)) folders.push_back(folder);
  }
  std::ranges::sort(folders);
  return folders;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ended;
  for (fs::recursive_directory_iterator file(folder, ended), end; !ended && file != end;
       file.increment(ended)) {
    std::error_code none;
    const std::uint64_t more = file->is_regular_file(none) ? file->file_size(none) : 0;
    if (!none) bytes += more;
  }
  return bytes;
}

// The file of a shard in a folder of copies.
fs::path place_in(const fs::path& folder, const ShardInfo& shard) {
  return folder / fs::path(shard.file).filename();
}

// False if another process holds it.
bool try_lock(const Fd& fd, int operation, const fs::path& folder) {
  if (::flock(fd.get(), operation | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) throw_errno("cannot lock " + folder.string());
  return false;
}

void clear(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && !entry.is_symlink()) {
      remove_tree(entry.path());
    } else {
      remove_file(entry.path());
    }
  }
}

// Approximate size of the wanted records of a shard.
std::uint64_t wanted_bytes(const ShardInfo& shard, const CopyOptions& options) {
  if (!options.runs) return shard.bytes;
  std::uint64_t ids = 0;
  for (const IdRun& run : *options.runs) {
    const SampleId first = std::max(run.first, shard.first_id);
    const SampleId last = std::min(run.last, shard.last_id);
    if (first <= last) ids += last - first + 1;
  }
  return estimate_bytes(shard, ids);
}

// Copies shards, or only their records in some partitions or with some ids, verifying the hashes of
// what is read.
class Copier {
 public:
  Copier(const CachePaths& paths, const Copies& copies, const CopyInMaking& to,
         const CopyOptions& options)
      : paths_(paths),
        manifest_(copies.manifest()),
        shards_(copies.wanted()),
        to_(to),
        options_(options) {
    for (const std::uint32_t shard : shards_) {
      progress_.total += wanted_bytes(manifest_.shards[shard], options_);
    }
  }

  // With a few threads: remote storage serves several requests at once, and one thread hashes while
  // others wait.
  void run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(kThreads, shards_.size()); ++i) {
      threads.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < shards_.size() && !failed_; i = next_++) {
      try {
        copy(manifest_.shards[shards_[i]]);
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

  // Ends early if another thread failed.
  void copy(const ShardInfo& shard) {
    const InputFile from(path_of(paths_, shard));
    if (options_.runs) return copy_part(from, shard, *options_.runs);
    std::optional<DurableFile> to;
    writing([&] { to.emplace(to_.fetched(shard)); });
    Bytes buffer(std::min(kBlockBytes, shard.bytes));
    for (std::size_t i = 0; i < shard.block_hashes.size() && !failed_; ++i) {
      const std::span block = std::span(buffer).first(block_size(shard, i));
      read_block(from, shard, i, block);
      writing([&] { to->write_at(i * kBlockBytes, block); });
      count(block.size());
    }
    if (failed_) return;
    writing([&] { to->finish(); });
    to_.place(shard);
  }

  void copy_part(const InputFile& from, const ShardInfo& shard, std::span<const IdRun> runs) {
    const std::vector<PackPlace> packs = find_packs(from, shard, runs);
    std::uint64_t bytes = 0;
    for (const PackPlace& place : packs) bytes += place.bytes;
    expect(bytes, wanted_bytes(shard, options_));
    const std::string where = from.path().string();
    std::optional<ShardPartWriter> to;
    writing([&] { to.emplace(to_.fetched(shard), runs); });
    for (const PackPlace& place : packs) {
      if (failed_) return;
      Bytes pack = read_pack(from, place);
      writing([&] { to->put(std::move(pack), where); });
      count(place.bytes);
    }
    writing([&] { to->finish(where); });
  }

  // Corrects the total by a better estimate.
  void expect(std::uint64_t bytes, std::uint64_t instead_of) {
    const std::lock_guard lock(mutex_);
    progress_.total += bytes - instead_of;
  }

  void count(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    progress_.done += bytes;
    if (options_.progress) options_.progress(progress_);
    if (options_.stop && options_.stop()) {
      throw StoppedError(
          "stopped on request before all shards were loaded; the loaded part was removed");
    }
  }

  const CachePaths& paths_;
  const Manifest& manifest_;
  const Numbers& shards_;
  const CopyInMaking& to_;
  const CopyOptions& options_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards the fields below
  Progress progress_;
  std::size_t failed_at_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
};

}  // namespace

std::size_t block_size(const ShardInfo& shard, std::size_t number) {
  return std::min(kBlockBytes, shard.bytes - number * kBlockBytes);
}

bool is_block(const ShardInfo& shard, std::size_t number, BytesView bytes) {
  return to_hex(xxh3_64(bytes)) == shard.block_hashes[number];
}

void read_block(const InputFile& from, const ShardInfo& shard, std::size_t number,
                std::span<std::byte> out) {
  if (from.size() != shard.bytes) {
    throw FormatError(from.path().string() + " is damaged: it has " + std::to_string(from.size()) +
                      " bytes instead of " + std::to_string(shard.bytes) + "; ingest again");
  }
  const std::uint64_t at = number * kBlockBytes;
  from.read_at(at, out);
  if (is_block(shard, number, out)) return;
  throw FormatError(from.path().string() + " is damaged: bytes " + std::to_string(at) + " to " +
                    std::to_string(at + out.size() - 1) +
                    " are not what was written; ingest again");
}

void check_room(const std::string& what, std::uint64_t bytes, const fs::path& memory) {
  const Room room = room_at(memory);
  if (room.bytes() >= bytes) return;
  throw UsageError(what + " need " + in_mebibytes(bytes) + " in " + memory.string() +
                   ", where there is room for " + to_string(room) +
                   "; make room (winnow cache list shows what is kept), or name a folder on a "
                   "local disk with --memory-dir");
}

void writing(const std::function<void()>& act) {
  try {
    act();
  } catch (const SystemError& error) {
    throw SystemError(std::string(error.what()) +
                      "; the unfinished copy was removed: make room (winnow cache list shows what "
                      "is kept), or name another folder with --memory-dir");
  }
}

CopyInMaking::~CopyInMaking() {
  if (!lock_) return;
  try {
    remove_copy(folder_);
  } catch (const std::exception&) {
    // The remains are incomplete; the next process that loads anything removes them.
  }
}

fs::path CopyInMaking::fetched(const ShardInfo& shard) const {
  const fs::path file = place_in(folder_, shard);
  return partitions_.all() ? file : fs::path(file.string() + ".whole");
}

// By way of a whole copy, because LMDB maps what it reads, and the shard may be on storage that
// must not be mapped.
void CopyInMaking::place(const ShardInfo& shard) const {
  if (partitions_.all()) return;
  const fs::path whole = fetched(shard);
  {
    const lmdb::Reader from(whole);
    std::optional<PackWriter> to;
    writing([&] { to.emplace(place_in(folder_, shard)); });
    for (const auto& [key, pack] : from.all()) {
      for (const RecordView& record : unpack_records(pack, whole.string())) {
        if (partitions_.has(record.id)) writing([&] { to->put(record); });
      }
    }
    writing([&] { to->finish(); });
  }
  remove_file(whole);
}

void CopyInMaking::finish(const std::string& description) {
  write_file_durably(folder_ / kCopyDescription, description);
  lock_ = Fd();
}

Copies::Copies(fs::path cache, ReadManifest read, const CopyOptions& options, std::uint64_t beside)
    : cache_(std::move(cache)), read_(std::move(read)), options_(options) {
  const std::size_t count = read_.manifest.shards.size();
  if (count == 0) {
    throw UsageError(cache_.string() + " holds fingerprints only: it has no shards to load");
  }
  if (options.shards) {
    wanted_ = *options.shards;
  } else {
    wanted_.resize(count);
    std::iota(wanted_.begin(), wanted_.end(), std::uint32_t{0});
  }
  room_ = room_for_copy() + beside;
  std::error_code ignored;
  if (!fs::is_directory(options.memory, ignored)) {
    throw UsageError("there is no folder " + options.memory.string() +
                     " to keep shards in; name another with --memory-dir");
  }
  if (storage_at(options.memory) == Storage::kNetwork) {
    throw UsageError(options.memory.string() +
                     " is on a network file system, from which shards are not mapped; name a "
                     "folder in memory or on a local disk with --memory-dir");
  }
}

// `all`: all shards, else the wanted ones.
fs::path Copies::folder_of(bool all) const {
  std::string name = copy_prefix() + read_.digest;
  if (!all) {
    Numbers what = wanted_;
    if (const Partitions& some = options_.partitions; !some.all()) {
      for (const int number : {some.begin, some.end, some.of}) {
        what.push_back(static_cast<std::uint32_t>(number));
      }
    }
    for (const IdRun& run : options_.runs.value_or(std::vector<IdRun>())) {
      for (const std::uint64_t id : {run.first, run.last}) {
        what.push_back(static_cast<std::uint32_t>(id));
        what.push_back(static_cast<std::uint32_t>(id >> 32));
      }
    }
    name += "-" + to_hex(xxh3_64(std::as_bytes(std::span(what))));
  }
  return options_.memory / name;
}

double CopyInMaking::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Copies::finish(CopyInMaking& made) {
  CopyDescription description{.cache = to_utf8(place_of(cache_).string()),
                              .cache_digest = read_.digest,
                              .shards = wanted_,
                              .of = read_.manifest.shards.size(),
                              .partitions = options_.partitions,
                              .runs = options_.runs};
  for (const ShardInfo& shard : read_.manifest.shards) {
    description.of_ids += shard.last_id - shard.first_id + 1;
  }
  for (const std::uint32_t shard : wanted_) {
    const fs::path file = place_in(made.folder(), read_.manifest.shards[shard]);
    description.shard_bytes.push_back(fs::file_size(file));
  }
  if (options_.pinned) writing([&] { pin(made.folder()); });
  made.finish(text_of(description));
  seconds_ = made.seconds();
}

Copies::Attempt Copies::attempt(bool may_make) {
  const bool wants_all =
      wanted_.size() == read_.manifest.shards.size() && options_.partitions.all() && !options_.runs;
  if (!wants_all) {  // its records in any partition
    Attempt whole = join(folder_of(/*all=*/true));
    if (whole.joined || whole.busy) return whole;
  }
  const fs::path folder = folder_of(wants_all);
  Attempt there = join(folder);
  if (there.joined || there.busy || !may_make) return there;
  return make(folder);
}

namespace {

void check(const fs::path& folder, const CopyDescription& found, const Copies& copies) {
  for (const std::uint32_t number : copies.wanted()) {
    const ShardInfo& shard = copies.manifest().shards[number];
    const fs::path file = place_in(folder, shard);
    const auto at = std::ranges::lower_bound(found.shards, number) - found.shards.begin();
    const auto i = static_cast<std::size_t>(at);
    const std::uint64_t bytes = (found.partitions.all() && !found.runs) || i == found.shards.size()
                                    ? shard.bytes
                                    : found.shard_bytes[i];
    std::error_code error;
    if (fs::file_size(file, error) == bytes && !error) continue;
    throw FormatError(file.string() + ", a copy of a shard of " + copies.cache().string() +
                      ", is damaged or missing; remove the copy with winnow cache drop " +
                      copies.cache().string() + " and load it again");
  }
}

}  // namespace

// With its lock, if it exists and is complete.
Copies::Attempt Copies::join(const fs::path& folder) const {
  Fd fd = open_copy(folder);
  if (!fd) return {};
  if (!try_lock(fd, LOCK_SH, folder)) return {.busy = true};
  if (!is_at(fd, folder)) return {.busy = true};
  const std::optional<CopyDescription> found = read_copy_description(folder);
  if (!found) return {};
  check(folder, *found, *this);
  if (options_.pinned) pin(folder);
  ::utimensat(AT_FDCWD, (folder / kCopyDescription).c_str(), nullptr, 0);  // mark it as just used
  return {.joined = ShardCopy({.folder = folder,
                               .cache_digest = read_.digest,
                               .bytes = found->bytes(),
                               .joined = !seconds_,
                               .seconds = seconds_.value_or(0)},
                              std::move(fd))};
}

Copies::Attempt Copies::make(const fs::path& folder) {
  seconds_.reset();
  const bool fault = fault_before("dir.create", folder);
  if (fault || (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)) {
    throw_errno("cannot make the folder " + folder.string());
  }
  fault_after("dir.create", folder);
  Fd fd = open_copy(folder);
  // The process in the way may have finished it by now, and still be using it.
  if (!fd || !try_lock(fd, LOCK_EX, folder)) return {.busy = true};
  if (!is_at(fd, folder) || read_copy_description(folder)) return {.busy = true};
  CopyInMaking making(folder, std::move(fd), options_.partitions);
  clear(folder);
  make_room();
  return {.making = std::move(making)};
}

void Copies::wait(int before) const {
  if (options_.stop && options_.stop()) {
    throw StoppedError("stopped on request while another process was loading the shards");
  }
  if (before == 1) {  // not for a momentary obstacle
    note("waiting for another process that is loading " + cache_.string() + " into " +
         options_.memory.string());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void Copies::note(const std::string& sentence) const {
  if (options_.note) options_.note(sentence);
}

// Maximum number of bytes that making the copy takes, approximately.
std::uint64_t Copies::room_for_copy() const {
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;
  for (const std::uint32_t shard : wanted_) {
    bytes += read_.manifest.shards.at(shard).bytes;
    largest = std::max(largest, read_.manifest.shards[shard].bytes);
  }
  if (options_.runs) {
    constexpr std::uint64_t kBesidePacks = 32 << 10;  // tree pages of a small file
    std::uint64_t part = 0;
    for (const std::uint32_t shard : wanted_) {
      part += wanted_bytes(read_.manifest.shards[shard], options_) + kBesidePacks;
    }
    return part + part / 20;
  }
  const Partitions& some = options_.partitions;
  if (some.all()) return bytes;
  // The share is about the same for any records, and some shards are temporarily complete.
  const double share = static_cast<double>(some.end - some.begin) / some.of;
  return static_cast<std::uint64_t>(1.05 * share * static_cast<double>(bytes)) +
         std::min(kThreads, wanted_.size()) * largest;
}

// Removes other copies: all unusable ones, and as many unused ones as necessary.
void Copies::make_room() const {
  struct Unused {
    fs::path folder;
    Fd lock;
    CopyDescription description;
    fs::file_time_type used;
  };
  std::vector<Unused> unused;
  for (const fs::path& folder : our_folders(options_.memory)) {
    if (!is_copy(folder)) continue;
    std::optional<Fd> lock = lock_unused(folder);
    if (!lock || !*lock || !is_at(*lock, folder)) continue;  // in use, or just removed
    const std::optional<CopyDescription> found = read_copy_description(folder);
    if (!found) {
      note("removed " + folder.string() + " (" + in_mebibytes(bytes_in(folder)) +
           "), left unfinished by a process that died");
      remove_copy(folder);
    } else if (!is_pinned(folder)) {
      std::error_code ignored;
      const auto used = fs::last_write_time(folder / kCopyDescription, ignored);
      unused.push_back({folder, *std::move(lock), *found, used});
    }
  }
  const std::uint64_t needed = room_ + kRoomBeside;
  std::ranges::stable_sort(unused, std::less<>(), &Unused::used);
  Room room = room_at(options_.memory);
  for (const Unused& copy : unused) {
    if (room.bytes() >= needed) break;
    remove_copy(copy.folder);
    note("removed the copy of " + from_utf8(copy.description.cache) + " (" +
         in_mebibytes(copy.description.bytes()) + "), which is not in use, to make room");
    room = room_at(options_.memory);
  }
  check_room("the shards of " + cache_.string(), needed, options_.memory);
}

ShardCopy ShardCopy::get(const fs::path& cache, const CopyOptions& options) {
  const CachePaths paths{cache};
  Copies copies(cache, read_manifest(paths), options);
  for (int waited = 0;;) {
    Copies::Attempt now = copies.attempt();
    if (now.joined) return *std::move(now.joined);
    if (now.making) {
      Copier(paths, copies, *now.making, options).run();
      copies.finish(*now.making);
    } else {
      copies.wait(waited++);
    }
  }
}

std::vector<CopyRow> list_copies(const fs::path& memory) {
  std::vector<CopyRow> rows;
  for (const fs::path& folder : our_folders(memory)) {
    CopyRow row;
    row.folder = folder;
    row.bytes = bytes_in(folder);
    row.in_use = !lock_unused(folder);
    if (row.in_use) row.users = users_of(folder);
    const std::optional<CopyDescription> found =
        is_copy(folder) ? read_copy_description(folder) : std::nullopt;
    if (found) {
      row.state = CopyRow::State::kWhole;
      row.pinned = is_pinned(folder);
      row.cache = from_utf8(found->cache);
      row.cache_digest = found->cache_digest;
      row.shards = found->shards.size();
      row.of = found->of;
      row.partitions = found->partitions;
      if (found->runs) row.ids = count_ids(*found->runs);
      row.of_ids = found->of_ids;
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

fs::path find_copied_files(const fs::path& cache, const fs::path& memory) {
  const fs::path at = place_of(cache);
  fs::path found;
  std::string digest;
  for (const CopyRow& row : list_copies(memory)) {
    const fs::path files = row.folder / kFilesFolder;
    std::error_code ignored;
    if (row.state != CopyRow::State::kWhole || row.cache != at ||
        !fs::exists(CachePaths{files}.manifest(), ignored)) {
      continue;
    }
    if (!digest.empty() && digest != row.cache_digest) {
      throw UsageError(memory.string() + " has copies of two caches that were at " +
                       cache.string() + " one after the other, " + digest + " and " +
                       row.cache_digest + "; drop the wrong one with: winnow cache drop DIGEST");
    }
    digest = row.cache_digest;
    found = files;
  }
  return found;
}

}  // namespace winnow::pipeline
