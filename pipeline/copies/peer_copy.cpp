#include "pipeline/copies/peer_copy.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/comm/schedule/all_to_all.h"
#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "pipeline/copies/copy_internal.h"
#include "pipeline/copies/peer_copy_internal.h"
#include "pipeline/copies/peer_plan.h"
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/shard_file.h"
#include "pipeline/store/shard_part.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint32_t>;
using File = SharedCache::File;

constexpr const char* kTable = "fingerprints/table";
constexpr const char* kLedger = "ledger.jsonl";

// A file beside the shards, with the manifest's hash of it if there is one.
InputFile open_file(const CachePaths& paths, const Manifest& manifest, const std::string& name) {
  if (name == kTable) return open_table(paths, manifest);
  if (name == kLedger) return open_ledger(paths, manifest);
  return InputFile(paths.root / name);
}

std::vector<File> list_files(const CachePaths& paths, const Manifest& manifest) {
  std::vector<std::string> names{kTable, kLedger};
  for (const std::string& selection : list_selections(paths)) {
    names.push_back("selections/" + selection + ".selection");
  }
  std::vector<File> files;
  for (const std::string& name : names) {
    const InputFile file = open_file(paths, manifest, name);
    files.push_back({name, file.size(), to_hex(xxh3_128(file))});
  }
  return files;
}

// Meaning of file numbers in a plan: shards (one number for each machine, if machines hold parts of
// them), then the files beside the shards.
struct FileNumbers {
  std::uint32_t shards = 0;
  std::uint32_t machines = 1;

  std::uint32_t of_first_beside() const noexcept { return shards * machines; }
  bool is_shard(std::uint32_t file) const noexcept { return file < of_first_beside(); }
  std::uint32_t shard(std::uint32_t file) const noexcept { return file / machines; }
  std::uint32_t machine(std::uint32_t file) const noexcept { return file % machines; }
  std::uint32_t beside(std::uint32_t file) const noexcept { return file - of_first_beside(); }
  std::uint32_t file_of(std::uint32_t shard, std::uint32_t machine) const noexcept {
    return shard * machines + machine;
  }
};

FileNumbers numbers_of(const SharedCache& shared, const Parts* parts) {
  const std::size_t shards = shared.manifest.shards.size();
  const std::uint32_t machines = parts != nullptr ? parts->machines : 1;
  if (shards * machines + shared.files.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("a cache of " + std::to_string(shards) + " shards cannot be given to " +
                std::to_string(machines) + " machines; put it on each of them");
  }
  return {.shards = static_cast<std::uint32_t>(shards), .machines = machines};
}

// Sizes of the pack streams that each machine gets of each shard, by file number.
std::vector<std::uint64_t> measure_streams(const CachePaths& paths, const SharedCache& shared,
                                           const Parts& parts) {
  const FileNumbers numbers = numbers_of(shared, &parts);
  std::vector<std::uint64_t> bytes(numbers.of_first_beside());
  for (std::uint32_t shard = 0; shard < numbers.shards; ++shard) {
    const ShardInfo& info = shared.manifest.shards[shard];
    for (const PackPlace& place : find_packs(InputFile(path_of(paths, info)), info)) {
      for (const std::uint32_t machine : holders_of(parts, place.ids)) {
        bytes[numbers.file_of(shard, machine)] += stream_bytes(place);
      }
    }
  }
  return bytes;
}

// Reads what this rank gives.
class Giver {
 public:
  Giver(const fs::path& cache, const SharedCache& shared, const Parts* parts)
      : paths_{cache}, shared_(shared), parts_(parts), numbers_(numbers_of(shared, parts)) {}

  void give(const GivenBlock& block, std::span<std::byte> out) {
    if (numbers_.is_shard(block.file)) {
      const ShardInfo& shard = shared_.manifest.shards[numbers_.shard(block.file)];
      if (parts_ != nullptr) return give_part(block, shard, out);
      read_block(InputFile(path_of(paths_, shard)), shard, block.begin / kBlockBytes, out);
      return;
    }
    const auto found = files_.find(block.file);
    const InputFile& file =
        found != files_.end()
            ? found->second
            : files_
                  .emplace(block.file, open_file(paths_, shared_.manifest,
                                                 shared_.files[numbers_.beside(block.file)].name))
                  .first->second;
    file.read_at(block.begin, out);
  }

 private:
  struct Part {
    std::uint32_t file = 0;
    PackStream stream;
  };

  // A taker gets its files one after the other.
  void give_part(const GivenBlock& block, const ShardInfo& shard, std::span<std::byte> out) {
    auto found = parts_given_.find(block.taker);
    if (found == parts_given_.end() || found->second.file != block.file) {
      if (found != parts_given_.end()) parts_given_.erase(found);
      const std::vector<IdRun>& runs = runs_of_machine(numbers_.machine(block.file));
      found = parts_given_
                  .emplace(block.taker,
                           Part{block.file, PackStream(path_of(paths_, shard), shard, runs)})
                  .first;
    }
    found->second.stream.read_at(block.begin, out);
  }

  const std::vector<IdRun>& runs_of_machine(std::uint32_t machine) {
    const auto [found, is_new] = runs_.try_emplace(machine);
    if (is_new) found->second = runs_of(*parts_, static_cast<int>(machine));
    return found->second;
  }

  CachePaths paths_;
  const SharedCache& shared_;
  const Parts* parts_;
  const FileNumbers numbers_;
  std::map<std::uint32_t, InputFile> files_;
  std::map<int, Part> parts_given_;                   // by taker
  std::map<std::uint32_t, std::vector<IdRun>> runs_;  // by receiving machine
};

// Receives files for a rank: first a copy or, if it exists, the files beside its shards.
class Taker {
 public:
  Taker(fs::path cache, const SharedCache& shared, const ShareOptions& options, bool has_cache)
      : shared_(shared),
        runs_(options.copy.runs),
        machine_(options.parts ? static_cast<std::uint32_t>(options.machine) : 0),
        numbers_(numbers_of(shared, options.parts.get())),
        has_cache_(has_cache),
        copies_(std::move(cache), {shared.manifest, shared.digest}, options.copy,
                has_cache ? 0 : bytes_beside(shared)) {}

  bool done() const noexcept { return copy_ && has_files_; }

  // Starts the next item, unless another process on the machine has. Returns the files to receive.
  Numbers begin() {
    if (!copy_) {
      Copies::Attempt now = copies_.attempt(/*may_make=*/!shared_.givers.empty());
      if (now.making) {
        making_.emplace(*std::move(now.making));
        Numbers takes;
        for (const std::uint32_t shard : copies_.wanted()) {
          takes.push_back(numbers_.file_of(shard, machine_));
        }
        if (!has_cache_) append_files(takes, [](const File&) { return true; });
        return takes;
      }
      if (!now.joined && !now.busy) throw_without_givers();
      if (!now.joined) return {};
      copy_ = std::move(now.joined);
    }
    has_files_ = has_cache_ || has_files(root());
    if (has_files_) return {};
    if (shared_.givers.empty()) throw_without_givers();
    return begin_files();
  }

  // Writes a block of a file with `size` bytes in all.
  void put(const GivenBlock& block, std::uint64_t size, BytesView bytes) {
    const bool ends = block.begin + block.bytes == size;
    if (!numbers_.is_shard(block.file)) return put_beside(block, ends, bytes);
    const ShardInfo& shard = shared_.manifest.shards[numbers_.shard(block.file)];
    if (runs_) return put_part(block, shard, ends, bytes);
    if (!is_block(shard, block.begin / kBlockBytes, bytes)) throw_changed(shard.file, block);
    put_bytes(block, ends, bytes);
    if (ends) making_->place(shard);
  }

  // Completes what begin() started, after everything was put.
  void finish() {
    if (making_ || files_lock_) {
      write([&] {
        if (!has_cache_) write_file_durably(CachePaths{root()}.manifest(), shared_.manifest_text);
        if (making_) copies_.finish(*making_);
      });
    }
    making_.reset();
    files_lock_ = Fd();
  }

  void wait(int before) const { copies_.wait(before); }

  SharedCopy result() && {
    SharedCopy out;
    if (!has_cache_) out.files_at = root();
    out.copy = std::move(copy_);
    return out;
  }

 private:
  void put_beside(const GivenBlock& block, bool ends, BytesView bytes) {
    const File& file = shared_.files[numbers_.beside(block.file)];
    put_bytes(block, /*ends=*/false, bytes);
    if (!ends) return;
    if (to_hex(xxh3_128(file_->written())) != file.hash) throw_changed(file.name, block);
    end_file();
  }

  void put_bytes(const GivenBlock& block, bool ends, BytesView bytes) {
    write([&] {
      if (block.begin == 0) file_.emplace(path_of(block.file));
      file_->write_at(block.begin, bytes);
    });
    if (ends) end_file();
  }

  void end_file() {
    write([&] { file_->finish(); });
    file_.reset();
  }

  void put_part(const GivenBlock& block, const ShardInfo& shard, bool ends, BytesView bytes) {
    try {
      write([&] {
        if (block.begin == 0) part_.emplace(path_of(block.file), *runs_);
        part_->put_stream(bytes, shard.file);
        if (ends) part_->finish(shard.file);
      });
    } catch (const FormatError&) {
      throw_changed("the packs of " + shard.file, block);
    }
    if (ends) part_.reset();
  }

  static std::uint64_t bytes_beside(const SharedCache& shared) {
    std::uint64_t bytes = shared.manifest_text.size();
    for (const File& file : shared.files) bytes += file.bytes;
    return bytes;
  }

  void write(const std::function<void()>& act) const {
    if (making_) return writing(act);
    act();  // an existing copy stays
  }

  // Root of the files beside the shards.
  fs::path root() const { return (making_ ? making_->folder() : copy_->folder()) / kFilesFolder; }

  fs::path path_of(std::uint32_t file) const {
    if (numbers_.is_shard(file)) {
      return making_->fetched(shared_.manifest.shards[numbers_.shard(file)]);
    }
    const fs::path path = root() / shared_.files[numbers_.beside(file)].name;
    make_directories(path.parent_path());
    return path;
  }

  void append_files(Numbers& takes, const auto& is_wanted) const {
    for (std::size_t i = 0; i < shared_.files.size(); ++i) {
      if (!is_wanted(shared_.files[i])) continue;
      takes.push_back(numbers_.of_first_beside() + static_cast<std::uint32_t>(i));
    }
  }

  static bool is_there(const fs::path& root, const File& file) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(root / file.name, error);
    return !error && bytes == file.bytes &&
           to_hex(xxh3_128(InputFile(root / file.name))) == file.hash;
  }

  // The manifest is written last.
  bool has_files(const fs::path& root) const {
    std::error_code ignored;
    return fs::exists(CachePaths{root}.manifest(), ignored) &&
           std::ranges::all_of(shared_.files,
                               [&](const File& file) { return is_there(root, file); });
  }

  // Others may be using the copy: to them it looks as if a selection were rewritten.
  Numbers begin_files() {
    const fs::path at = root();
    make_directories(at);
    Fd lock(::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock) throw_errno("cannot open " + at.string());
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw_errno("cannot lock " + at.string());
      return {};
    }
    files_lock_ = std::move(lock);
    Numbers takes;
    append_files(takes, [&](const File& file) { return !is_there(at, file); });
    std::uint64_t bytes = kRoomBeside;
    for (const std::uint32_t take : takes) {
      bytes += shared_.files[numbers_.beside(take)].bytes;
    }
    check_room("the tables of " + copies_.cache().string(), bytes, copy_->folder().parent_path());
    return takes;
  }

  [[noreturn]] void throw_changed(const std::string& file, const GivenBlock& block) const {
    throw Error("bytes " + std::to_string(block.begin) + " to " +
                std::to_string(block.begin + block.bytes - 1) + " of " + file + ", which rank " +
                std::to_string(block.giver) +
                " gave, differ from its file: the file was changed, or the network or memory of a "
                "machine corrupts data; start again");
  }

  [[noreturn]] void throw_without_givers() const {
    throw UsageError("no machine of this job has " + copies_.cache().string() +
                     ", and the shards in memory are not complete; add a machine that has the "
                     "cache, or use as many machines as when it was loaded");
  }

  const SharedCache& shared_;
  const std::optional<std::vector<IdRun>> runs_;  // ids to receive
  const std::uint32_t machine_;
  const FileNumbers numbers_;
  const bool has_cache_;
  Copies copies_;
  std::optional<ShardCopy> copy_;
  bool has_files_ = false;
  std::optional<CopyInMaking> making_;
  Fd files_lock_;                        // exclusive lock of root()
  std::optional<DurableFile> file_;      // currently being written
  std::optional<ShardPartWriter> part_;  // likewise
};

// Executes a plan. A round is transferred while the one before it is written and the next one is
// read.
class Giving {
 public:
  Giving(const fs::path& cache, const SharedCache& shared, const ShareOptions& options,
         std::optional<Taker>& taker, comm::Communicator& comm)
      : options_(options.copy),
        giver_(cache, shared, options.parts.get()),
        taker_(taker),
        comm_(comm) {}

  std::uint64_t run(GivingPlan plan) {
    bytes_ = plan.bytes;
    for (std::size_t rank = 0; rank < plan.takes.size(); ++rank) {
      for (const std::uint32_t file : plan.takes[rank]) progress_.total += plan.bytes[file];
    }
    GivingRounds rounds(std::move(plan));
    std::uint64_t between_ranks = 0;
    std::array<Bytes, 2> out, in;  // for even and odd rounds
    GivenParts arrived, travelling;
    comm::Pending pending;  // must end before the buffers in transfer
    // The last transfer is written two rounds later.
    int empty = 0;
    for (std::size_t number = 0; empty < 2; ++number) {
      const std::vector<GivenBlock> blocks = rounds.next();
      if (blocks.empty()) ++empty;
      GivenParts next = lay_out(blocks, comm_.rank(), comm_.size());
      Bytes& sent = out[number % 2];
      Bytes& received = in[number % 2];
      comm::on_all(comm_, [&] {
        if (options_.stop && options_.stop()) {
          throw StoppedError(
              "stopped on request before all shards were loaded; the loaded part was removed");
        }
        read(next, sent);
        write(arrived, received);
        received.resize(next.received_offsets.back());
      });
      pending.wait();
      arrived = std::move(travelling);
      travelling = std::move(next);
      if (!blocks.empty()) {
        pending = comm_.start_all_to_all(sent, travelling.sent_offsets, received,
                                         travelling.received_offsets, comm::kExchangeOptions);
      }
      for (const GivenBlock& block : blocks) {
        progress_.done += block.bytes;
        if (block.giver != block.taker) between_ranks += block.bytes;
      }
      if (options_.progress) options_.progress(progress_);
    }
    return between_ranks;
  }

 private:
  void read(const GivenParts& parts, Bytes& out) {
    out.resize(parts.sent_offsets.back());
    for (const GivenParts::Piece& piece : parts.sent) {
      giver_.give(piece.block, std::span(out).subspan(piece.at, piece.block.bytes));
    }
  }

  void write(const GivenParts& parts, const Bytes& in) {
    for (const GivenParts::Piece& piece : parts.received) {
      taker_->put(piece.block, bytes_[piece.block.file],
                  std::span(in).subspan(piece.at, piece.block.bytes));
    }
  }

  const CopyOptions& options_;
  Giver giver_;
  std::optional<Taker>& taker_;
  comm::Communicator& comm_;
  std::vector<std::uint64_t> bytes_;  // by file
  Progress progress_;
};

}  // namespace

std::string to_json(const std::vector<File>& files) {
  auto list = Json::array();
  for (const File& file : files) {
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
  }
  return list.dump();
}

std::vector<File> parse_files(const std::string& text, const std::string& where) {
  std::vector<File> files;
  for (const JsonReader& file : JsonReader(text, {where}).items()) {
    files.push_back({file.at("name").text(), file.at("bytes").number(), file.at("hash").text()});
  }
  return files;
}

std::vector<bool> find_cache(const fs::path& cache, comm::Communicator& comm) {
  std::error_code ignored;
  const std::uint64_t here = fs::exists(cache, ignored) ? 1 : 0;
  const std::vector<std::uint64_t> all = comm::all_gather(comm, std::span(&here, 1));
  return {all.begin(), all.end()};
}

SharedCache share_cache(const fs::path& cache, const fs::path& memory, const std::vector<bool>& has,
                        comm::Communicator& comm) {
  const auto me = static_cast<std::size_t>(comm.rank());
  SharedCache shared;
  for (std::size_t rank = 0; rank < has.size(); ++rank) {
    if (has[rank]) shared.givers.push_back(static_cast<int>(rank));
  }
  const int first = shared.givers.empty() ? 0 : shared.givers.front();
  const bool knows = has[me] || shared.givers.empty();
  std::string text;
  std::string files = "[]";
  std::array<std::uint64_t, 2> digest{};
  comm::on_all(comm, [&] {
    if (!knows) return;
    CachePaths paths{cache};
    if (!has[me]) paths.root = find_copied_files(cache, memory);
    if (paths.root.empty()) paths.root = cache;  // to report that it is missing
    const ReadManifest read = read_manifest(paths);
    if (has[me] && !read.manifest.shards.empty()) check_shards_folder(paths);
    if (has[me] && comm.rank() == first) files = to_json(list_files(paths, read.manifest));
    text = read_text(paths.manifest());
    const Hash128 hash = parse_hash128(read.digest);
    std::memcpy(digest.data(), hash.bytes.data(), sizeof(digest));
  });
  const std::vector<std::uint64_t> digests = comm::all_gather(comm, digest);
  comm::on_all(comm, [&] {
    const auto of_first = std::span(digests).subspan(2 * static_cast<std::size_t>(first), 2);
    if (!knows || std::ranges::equal(of_first, digest)) return;
    throw Error("rank " + std::to_string(me) + " has another cache at " + cache.string() +
                " than rank " + std::to_string(first) +
                "; put the same cache on all machines, or remove it from those that are to copy it "
                "from others");
  });
  shared.manifest_text = comm::broadcast(comm, text, first);
  const std::string list = comm::broadcast(comm, files, first);
  comm::on_all(comm, [&] {
    const std::string of = cache.string() + " that rank " + std::to_string(first) + " gave";
    shared.manifest = parse_manifest(shared.manifest_text, "the manifest of " + of);
    shared.digest = stated_digest(shared.manifest_text);
    shared.files = parse_files(list, "the list of files of " + of);
  });
  return shared;
}

namespace {

// The files that each rank takes next, exchanged by all; `any_waits`: another process is making
// one.
struct Taking {
  std::vector<Numbers> takes;
  bool any_takes = false;
  bool any_waits = false;
};
Taking begin_taking(std::optional<Taker>& taker, std::size_t files, comm::Communicator& comm) {
  // For each rank, a bit for each file it takes, and one for waiting.
  std::vector<std::uint64_t> row(files / 64 + 1);
  const auto set = [&](std::size_t bit) { row[bit / 64] |= std::uint64_t{1} << (bit % 64); };
  comm::on_all(comm, [&] {
    if (!taker || taker->done()) return;
    for (const std::uint32_t file : taker->begin()) set(file);
    if (!taker->done()) set(files);
  });
  const std::vector<std::uint64_t> rows = comm::all_gather(comm, row);
  Taking taking;
  taking.takes.resize(static_cast<std::size_t>(comm.size()));
  for (std::size_t rank = 0; rank < taking.takes.size(); ++rank) {
    const auto is_set = [&](std::size_t bit) {
      return (rows[rank * row.size() + bit / 64] >> (bit % 64) & 1) != 0;
    };
    for (std::uint32_t file = 0; file < files; ++file) {
      if (is_set(file)) taking.takes[rank].push_back(file);
    }
    taking.any_takes = taking.any_takes || !taking.takes[rank].empty();
    taking.any_waits = taking.any_waits || is_set(files);
  }
  return taking;
}

// Size of each file of a plan, by number. Collective.
std::vector<std::uint64_t> measure(const fs::path& cache, const SharedCache& shared,
                                   const Parts* parts, comm::Communicator& comm) {
  std::vector<std::uint64_t> bytes;
  if (parts == nullptr) {
    for (const ShardInfo& shard : shared.manifest.shards) bytes.push_back(shard.bytes);
  } else {
    bytes.resize(numbers_of(shared, parts).of_first_beside());
    const int first = shared.givers.front();
    comm::on_all(comm, [&] {
      if (comm.rank() == first) bytes = measure_streams(CachePaths{cache}, shared, *parts);
    });
    comm.broadcast(std::as_writable_bytes(std::span(bytes)), first);
  }
  for (const File& file : shared.files) bytes.push_back(file.bytes);
  return bytes;
}

}  // namespace

SharedCopy share_copies(const fs::path& cache, const SharedCache& shared,
                        const ShareOptions& options, comm::Communicator& comm) {
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::optional<Taker> taker;
  comm::on_all(comm, [&] {
    const bool has_cache = std::ranges::binary_search(shared.givers, comm.rank());
    if (options.wants_copy) taker.emplace(cache, shared, options, has_cache);
  });
  const std::uint32_t beside = numbers_of(shared, options.parts.get()).of_first_beside();
  GivingPlan plan{.givers = shared.givers,
                  .of_first = beside,
                  // Two rounds, one read or written and one in transfer, in both directions.
                  .most_bytes = options.segment_bytes / 4};
  Giving giving(cache, shared, options, taker, comm);
  std::uint64_t given = 0;
  for (int waited = 0;;) {
    Taking taking = begin_taking(taker, beside + shared.files.size(), comm);
    if (!taking.any_waits) break;
    if (taking.any_takes) {
      if (plan.bytes.empty()) plan.bytes = measure(cache, shared, options.parts.get(), comm);
      plan.takes = std::move(taking.takes);
      given += giving.run(plan);
    }
    comm::on_all(comm, [&] {
      if (taker) taker->finish();
      if (taker && !taking.any_takes) taker->wait(waited++);
    });
  }
  SharedCopy out;
  if (taker) out = std::move(*taker).result();
  out.given_bytes = given;
  out.seconds = seconds();
  return out;
}

}  // namespace winnow::pipeline
