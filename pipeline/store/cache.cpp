#include "pipeline/store/cache.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/lmdb/lmdb.h"
#include "pipeline/store/cache_internal.h"
#include "pipeline/store/checked.h"
#include "pipeline/store/copy_description.h"
#include "pipeline/store/memory.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw FormatError(file.string() + " " + what + "; ingest again");
}

// Opens the file at `added` (see CachePaths), or at its final place.
InputFile open_file(const fs::path& added, const fs::path& path) {
  std::error_code ignored;
  const bool is_added = fs::exists(added, ignored);
  if (!is_added && !fs::exists(path, ignored)) fail(path, "is missing");
  return InputFile(is_added ? added : path);
}

// Likewise, verified against this hash by `hash_of`.
InputFile open_checked(const fs::path& added, const fs::path& path, const std::string& hash,
                       Hash128 (*hash_of)(const InputFile&)) {
  InputFile file = open_file(added, path);
  if (to_hex(hash_of(file)) != hash) {
    fail(path, "is damaged: its hash is not the one in the manifest");
  }
  return file;
}

}  // namespace

InputFile open_table(const CachePaths& paths, const Manifest& manifest) {
  const std::string& hash = manifest.tables.fingerprints_hash;
  return open_checked(paths.added_fingerprints(hash), paths.fingerprints(), hash,
                      dedup::hash_of_table);
}

InputFile open_ledger(const CachePaths& paths, const Manifest& manifest) {
  const std::string& hash = manifest.tables.ledger_hash;
  return open_checked(paths.added_ledger(hash), paths.ledger(), hash, xxh3_128);
}

ReadManifest read_manifest(const CachePaths& paths) {
  const std::string root = paths.root.string();
  std::error_code ignored;
  if (!fs::exists(paths.root, ignored)) {
    throw UsageError("there is no cache at " + root +
                     "; make one with: winnow ingest SOURCE --out " + root);
  }
  if (!fs::exists(paths.manifest(), ignored)) {
    if (fs::exists(paths.unfinished(), ignored)) {
      throw UsageError(root +
                       " holds a cache that was not finished; repeat the command that was making "
                       "it: winnow ingest SOURCE --out " +
                       root + ", or winnow compact");
    }
    throw UsageError(
        root +
        " is not a winnow cache: it has no manifest.json; make one from it with: winnow ingest " +
        root + " --out CACHE");
  }
  const std::string text = read_text(paths.manifest());
  return {parse_manifest(text, paths.manifest().string()), std::string(stated_digest(text))};
}

void check_shards_folder(const CachePaths& paths) {
  std::error_code ignored;
  if (fs::is_directory(paths.shards(), ignored)) return;
  if (fs::is_symlink(paths.shards(), ignored)) {
    const std::string target = fs::read_symlink(paths.shards(), ignored).string();
    throw FormatError("the shards of " + paths.root.string() + " were kept in memory at " + target +
                      " and are gone, as after a restart of the machine; remove the cache and "
                      "ingest again");
  }
  fail(paths.shards(), "is missing");
}

BadBlocks find_bad_blocks(const fs::path& file, const ShardInfo& shard,
                          const std::function<void(std::uint64_t bytes)>& done) {
  // Reads instead of mapping: mapped pages would count as memory of this process.
  const InputFile input(file);
  Bytes buffer(std::min(kBlockBytes, shard.bytes));
  BadBlocks bad;
  for (std::size_t i = 0; i < shard.block_hashes.size(); ++i) {
    const std::uint64_t at = i * kBlockBytes;
    const std::span block = std::span(buffer).first(std::min(kBlockBytes, shard.bytes - at));
    input.read_at(at, block);
    if (to_hex(xxh3_64(block)) != shard.block_hashes[i] && bad.count++ == 0) {
      bad.first = at;
      bad.last = at + block.size() - 1;
    }
    if (done) done(block.size());
  }
  return bad;
}

namespace {

void check_blocks(const fs::path& file, const ShardInfo& shard) {
  const BadBlocks bad = find_bad_blocks(file, shard, {});
  if (bad.count == 0) return;
  fail(file, "is damaged: bytes " + std::to_string(bad.first) + " to " + std::to_string(bad.last) +
                 " are not what was written");
}

}  // namespace

lmdb::Reader open_shard(const fs::path& file, const ShardInfo& shard, Verify verify) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file, error);
  if (error) fail(file, "cannot be read (" + error.message() + ")");
  if (bytes != shard.bytes) {
    fail(file, "is damaged: it has " + std::to_string(bytes) + " bytes instead of " +
                   std::to_string(shard.bytes));
  }
  if (verify == Verify::kBlocks) check_blocks(file, shard);
  return lmdb::Reader(file);
}

namespace {

// For a missing record: checks whether damage has hidden it in its shard.
void check_packs(const lmdb::Reader& reader, const ShardInfo& shard, const fs::path& file,
                 bool lacks_some) {
  std::uint64_t records = 0;
  for (const auto& [key, pack] : reader.all()) {
    const std::vector<RecordView> in_pack = unpack_records(pack, file.string());
    if (in_pack.front().id != key) fail(file, "is damaged: a pack is stored under a wrong key");
    records += in_pack.size();
  }
  if (records != shard.records && !lacks_some) {
    fail(file, "is damaged: it has " + std::to_string(records) + " records instead of " +
                   std::to_string(shard.records));
  }
}

bool is_input(const Manifest& manifest, SampleId id) noexcept {
  return source_of(id) < manifest.sources.size() &&
         position_of(id) < manifest.sources[source_of(id)].inputs;
}

}  // namespace

void check_labels(std::span<const std::int32_t> labels, const Manifest& manifest,
                  const std::string& where) {
  for (const std::int32_t label : labels) {
    if (label >= 0 && std::cmp_less(label, manifest.classes.size())) continue;
    fail(where, "is damaged: it has label " + std::to_string(label) + ", but there are only " +
                    std::to_string(manifest.classes.size()) + " classes");
  }
}

dedup::Fingerprints read_columns(const InputFile& file, const Manifest& manifest,
                                 const dedup::ColumnNames* columns) {
  dedup::Fingerprints table = dedup::read_fingerprints(file, columns);
  const bool good =
      table.size() == manifest.inputs.by_fate.at("ok") &&
      std::ranges::all_of(table.ids, [&](SampleId id) { return is_input(manifest, id); });
  if (!good)
    fail(file.path(), "belongs to another cache: its rows are not the inputs in the manifest");
  check_labels(table.labels.values, manifest, file.path().string());
  return table;
}

void check_thumbnails(const dedup::ThumbnailSource& thumbnails, std::size_t rows) {
  constexpr std::size_t kAtOnce = 1024;
  if (!thumbnails) return;
  for (std::size_t row = 0; row < rows; row += kAtOnce) {
    thumbnails(row, std::min(kAtOnce, rows - row));
  }
}

void check_columns(const dedup::ColumnSource& columns, const Manifest& manifest) {
  for (const std::string_view name : dedup::kColumns) columns({std::string(name)});
  for (const std::string& hash : manifest.tables.hashes) {
    columns({"codes:" + hash.substr(0, hash.find(':'))});
  }
}

void for_each_ledger_row(const CachePaths& paths, const Manifest& manifest,
                         const std::function<void(const LedgerRow&)>& take) {
  const fs::path file = paths.ledger();
  FateCounts fates{};
  bool good = true;
  for_each_row(open_ledger(paths, manifest), [&](const LedgerRow& row) {
    ++fates[static_cast<std::size_t>(row.fate)];
    good = good && is_input(manifest, row.id);
    take(row);
  });
  // The counts by fate in a manifest sum to its inputs.
  if (!good || by_name(fates) != manifest.inputs.by_fate) {
    fail(file, "belongs to another cache: its lines are not the inputs in the manifest");
  }
}

namespace {

std::string list_of(const std::vector<std::string>& selections) {
  std::string text;
  for (const std::string& name : selections) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "it has none, make one with winnow dedup" : "it has " + text;
}

// Copies durably; if `from` does not exist, `to` is removed.
void copy_or_remove(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (!fs::exists(from, ignored)) return remove_file(to);
  const InputFile file(from);
  DurableFile copy(to);
  for_each_piece(file, 0, file.size(), [&](BytesView bytes) { copy.append(bytes); });
  copy.finish();
}

}  // namespace

bool is_selection_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 200 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

void check_selection_name(const std::string& name) {
  if (!is_selection_name(name)) {
    throw UsageError("'" + name +
                     "' cannot name a selection: use letters, digits, '.', '_' and "
                     "'-', not starting with '.'");
  }
}

std::vector<std::string> list_selections(const CachePaths& paths) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(paths.root / "selections", ignored)) {
    if (entry.path().extension() == ".selection") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

dedup::Selection read_selection_for(const CachePaths& paths, const std::string& digest,
                                    const std::string& name) {
  check_selection_name(name);
  const fs::path file = paths.selection(name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw UsageError(paths.root.string() + " has no selection '" + name + "'; " +
                     list_of(list_selections(paths)));
  }
  dedup::Selection selection = dedup::read_selection(InputFile(file));
  if (selection.cache_digest != digest) {
    throw UsageError(file.string() +
                     " was made for another cache; make it again with winnow dedup");
  }
  if (!is_selection_name(selection.name)) {
    throw FormatError(file.string() +
                      " is damaged: the name in it is not valid for a selection; make it again");
  }
  return selection;
}

struct Cache::State {
  CachePaths paths;
  Manifest manifest;
  std::string digest;
  std::vector<std::optional<lmdb::Reader>> shards;     // as manifest.shards; nullopt: not held
  std::vector<std::unique_ptr<CheckedBytes>> checked;  // likewise; null: nothing is remembered
  Fd in_use;                                           // lock of the shards' folder
  CopyContents there;                                  // the records in them

  std::vector<std::string> files;  // paths of the shards, for messages
  std::uint64_t most_mapped = 0;   // ~0: no limit

  // The number of the shard whose ids include `id`; the number of shards if there is none.
  std::size_t shard_of(SampleId id) const noexcept {
    const auto found =
        std::ranges::lower_bound(manifest.shards, id, std::less<>(), &ShardInfo::last_id);
    const bool has_it = found != manifest.shards.end() && found->first_id <= id;
    return has_it ? static_cast<std::size_t>(found - manifest.shards.begin())
                  : manifest.shards.size();
  }

  // The system also maps the surroundings of a page, so over an epoch whole shards would stay in
  // this process's memory. Dropped pages stay in the page cache if there is room.
  void count_mapped(std::size_t bytes) const {
    if (mapped.fetch_add(bytes, std::memory_order_relaxed) < most_mapped) return;
    mapped.store(0, std::memory_order_relaxed);
    for (const std::optional<lmdb::Reader>& shard : shards) {
      if (shard) shard->drop_pages();
    }
  }
  mutable std::atomic<std::uint64_t> mapped{0};  // approximate bytes since pages were last dropped
};

Cache Cache::open(const fs::path& root, const OpenOptions& options) {
  auto state = std::make_unique<State>();
  State& s = *state;
  s.paths.root = root;
  ReadManifest read = read_manifest(s.paths);
  s.manifest = std::move(read.manifest);
  s.digest = std::move(read.digest);
  const auto is_held = [&](std::size_t shard) {
    return !options.held || std::ranges::binary_search(*options.held, shard);
  };
  const bool has_any = !s.manifest.shards.empty() && !(options.held && options.held->empty());
  const bool elsewhere = !options.shards_at.empty();
  if (has_any && !elsewhere) check_shards_folder(s.paths);
  if (has_any && elsewhere) s.there = contents_of_copy(options.shards_at, s.digest);
  if (has_any) s.in_use = use_folder(elsewhere ? options.shards_at : s.paths.shards());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < s.manifest.shards.size(); ++i) {
    ShardInfo shard = s.manifest.shards[i];
    const auto found = s.there.bytes.find(static_cast<std::uint32_t>(i));
    if (found != s.there.bytes.end()) shard.bytes = found->second;
    s.files.push_back(
        (elsewhere ? options.shards_at / fs::path(shard.file).filename() : root / shard.file)
            .string());
    s.shards.emplace_back();
    s.checked.emplace_back();
    if (!is_held(i)) continue;
    const fs::path file = elsewhere ? fs::path(s.files.back()) : path_of(s.paths, shard);
    // Block hashes are those of whole shards.
    const bool whole = s.there.whole();
    s.shards.back().emplace(open_shard(file, shard, whole ? options.verify : Verify::kSizes));
    if (options.verify == Verify::kBlocks && !whole) {
      check_packs(*s.shards.back(), shard, file, /*lacks_some=*/true);
    }
    // Data in memory does not change after it was verified once. Data on a disk may be read again,
    // and differ by then.
    if (storage_at(s.files.back()) == Storage::kMemory) {
      s.checked.back() = std::make_unique<CheckedBytes>(s.shards.back()->values());
    }
    bytes += shard.bytes;
  }
  s.most_mapped = bytes <= options.most_mapped ? ~std::uint64_t{0} : options.most_mapped;
  return Cache(std::move(state));
}

Cache::Cache(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&&) noexcept = default;

const CachePaths& Cache::paths() const noexcept { return state_->paths; }
const Manifest& Cache::manifest() const noexcept { return state_->manifest; }
const std::string& Cache::digest() const noexcept { return state_->digest; }

bool Cache::holds(SampleId id) const noexcept {
  const std::size_t shard = state_->shard_of(id);
  return shard < state_->shards.size() && state_->shards[shard] && state_->there.has(id);
}

RecordView Cache::record(SampleId id, const PickVariant& pick) const {
  const State& s = *state_;
  const auto& shards = s.manifest.shards;
  if (const std::size_t shard = s.shard_of(id); shard < shards.size()) {
    const auto& reader = s.shards[shard];
    const std::string& file = s.files[shard];
    if (!reader || !s.there.has(id)) {
      throw Error("record " + std::to_string(id) + " of " + s.paths.root.string() + ", in " +
                  shards[shard].file + ", is not stored on this machine");
    }
    const BytesView pack = reader->at_or_before(id).second;
    if (!pack.empty()) {
      const std::string where = file + ", record " + std::to_string(id);
      const FoundRecord found = find_record(pack, id, where, pick, s.checked[shard].get());
      if (found.found) {
        check_labels(found.record.labels, s.manifest, where);
        // Besides the payload: the directory and a few headers, each with its surroundings.
        constexpr std::size_t kAround = 256 << 10;
        s.count_mapped(found.record.payload.size() + std::min<std::size_t>(pack.size(), kAround));
        return found.record;
      }
    }
    check_packs(*reader, shards[shard], file, !s.there.whole());
  }
  throw Error("there is no record " + std::to_string(id) + " in " + s.paths.root.string() +
              (shards.empty()
                   ? ": it was made without storing images"
                   : ": no such input, or one that could not be read or was left out (see "
                     "ledger.jsonl)"));
}

void Cache::for_each_packed_size(std::size_t shard,
                                 const std::function<void(SampleId, std::size_t)>& take) const {
  for (const auto& [key, pack] : state_->shards[shard]->all()) {
    pipeline::for_each_packed_size(pack, state_->files[shard], take);
  }
}

// Both files have the hashes in the manifest. Whether all three describe the same inputs is only
// doubtful for a cache assembled by hand.
dedup::Fingerprints Cache::read_fingerprints() const {
  const Manifest& m = state_->manifest;
  return read_columns(open_table(state_->paths, state_->manifest), m, nullptr);
}

dedup::ColumnSource Cache::open_fingerprints() const {
  const Manifest& m = state_->manifest;
  const auto file = std::make_shared<const InputFile>(open_table(state_->paths, state_->manifest));
  return [file, &m](const dedup::ColumnNames& columns) { return read_columns(*file, m, &columns); };
}

dedup::ThumbnailSource Cache::open_thumbnails() const {
  return dedup::open_thumbnails(
      std::make_shared<const InputFile>(open_table(state_->paths, state_->manifest)));
}

std::uint64_t Cache::thumbnail_bytes() const {
  const CachePaths& paths = state_->paths;
  const std::string& hash = state_->manifest.tables.fingerprints_hash;
  return dedup::thumbnail_bytes(open_file(paths.added_fingerprints(hash), paths.fingerprints()));
}

void Cache::for_each_ledger_row(const std::function<void(const LedgerRow&)>& take) const {
  pipeline::for_each_ledger_row(state_->paths, state_->manifest, take);
}

void Cache::for_each_remark(const std::function<void(const LedgerRow&)>& take) const {
  pipeline::for_each_remark(open_ledger(state_->paths, state_->manifest), take);
}

std::vector<LedgerRow> Cache::read_ledger() const {
  std::vector<LedgerRow> rows;
  for_each_ledger_row([&](const LedgerRow& row) { rows.push_back(row); });
  return rows;
}

LedgerNames Cache::read_names() const {
  return LedgerNames(open_ledger(state_->paths, state_->manifest));
}

std::vector<std::string> Cache::selections() const { return list_selections(state_->paths); }

dedup::Selection Cache::read_selection(const std::string& name) const {
  return read_selection_for(state_->paths, state_->digest, name);
}

void Cache::write_selection(const dedup::Selection& selection,
                            const dedup::GroupsWithEvidence* groups) const {
  check_selection_name(selection.name);
  if (selection.cache_digest != state_->digest) {
    throw UsageError("selection '" + selection.name + "' was made for another cache than " +
                     state_->paths.root.string());
  }
  const fs::path file = state_->paths.selection(selection.name);
  make_directories(file.parent_path());
  // Groups first: they belong to this selection only, so before it is written they belong to none.
  const fs::path beside = state_->paths.groups(selection.name);
  if (groups != nullptr) dedup::write_groups(beside, *groups, selection);
  dedup::write_selection(file, selection);
  if (groups == nullptr) remove_file(beside);
}

std::optional<dedup::GroupsWithEvidence> Cache::read_groups(
    const dedup::Selection& selection) const {
  if (!is_selection_name(selection.name)) return std::nullopt;
  const fs::path file = state_->paths.groups(selection.name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return dedup::read_groups(InputFile(file), selection);
}

Fd Cache::lock_selections(const StopRequested& stop) const {
  const fs::path folder = state_->paths.selection("any").parent_path();
  make_directories(folder);
  return wait_for_directory(folder, stop);
}

std::optional<std::string> Cache::keep_previous(const dedup::Selection& next) const {
  const fs::path file = state_->paths.selection(next.name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  dedup::Selection previous;
  try {
    previous = dedup::read_selection(InputFile(file));
  } catch (const FormatError&) {
    return std::nullopt;
  }
  if (previous == next) return std::nullopt;
  previous.name = next.name + ".previous";
  check_selection_name(previous.name);
  const fs::path to = state_->paths.selection(previous.name);
  const auto beside = [](fs::path path, const char* end) { return path.replace_extension(end); };
  copy_or_remove(beside(file, ".groups"), beside(to, ".groups"));
  dedup::write_selection(to, previous);
  copy_or_remove(beside(file, ".csv"), beside(to, ".csv"));
  return previous.name;
}

}  // namespace winnow::pipeline
