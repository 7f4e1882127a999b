#include "pipeline/store/cache.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw FormatError(file.string() + " " + what + "; ingest again");
}

Manifest read_manifest(const CachePaths& paths) {
  const std::string root = paths.root.string();
  std::error_code ignored;
  if (!fs::exists(paths.root, ignored)) {
    throw UsageError("there is no cache at " + root +
                     "; make one with: winnow ingest SOURCE --out " + root);
  }
  if (!fs::exists(paths.manifest(), ignored)) {
    if (fs::exists(paths.unfinished(), ignored)) {
      throw UsageError(root +
                       " holds an ingest that was not finished; run it again with: "
                       "winnow ingest SOURCE --out " +
                       root);
    }
    throw UsageError(root +
                     " is not a winnow cache: it has no manifest.json; make one with: "
                     "winnow ingest SOURCE --out " +
                     root);
  }
  return parse_manifest(read_text(paths.manifest()), paths.manifest().string());
}

void check_folder(const CachePaths& paths) {
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

void check_blocks(const fs::path& file, const ShardInfo& shard) {
  const MappedFile mapped(file);
  const BytesView bytes = mapped.bytes();
  for (std::size_t i = 0; i < shard.block_hashes.size(); ++i) {
    const std::size_t at = i * kBlockBytes;
    const BytesView block =
        bytes.subspan(at, std::min<std::size_t>(kBlockBytes, bytes.size() - at));
    if (to_hex(xxh3_64(block)) != shard.block_hashes[i]) {
      fail(file, "is damaged: bytes " + std::to_string(at) + " to " +
                     std::to_string(at + block.size() - 1) + " are not what was written");
    }
  }
}

lmdb::Reader open_shard(const CachePaths& paths, const ShardInfo& shard, Verify verify) {
  const fs::path file = paths.root / shard.file;
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file, error);
  if (error) fail(file, "cannot be read (" + error.message() + ")");
  if (bytes != shard.bytes) {
    fail(file, "is damaged: it has " + std::to_string(bytes) + " bytes of " +
                   std::to_string(shard.bytes));
  }
  if (verify == Verify::kBlocks) check_blocks(file, shard);
  return lmdb::Reader(file);
}

Bytes read_checked(const fs::path& file, const std::string& hash) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) fail(file, "is missing");
  Bytes bytes = read_file(file);
  if (to_hex(xxh3_128(bytes)) != hash) {
    fail(file, "is damaged: its hash is not the one in the manifest");
  }
  return bytes;
}

// For a record that is not where it should be: refuses a shard that damage has hidden it in.
void check_packs(const lmdb::Reader& reader, const ShardInfo& shard, const fs::path& file) {
  std::uint64_t records = 0;
  for (const auto& [key, pack] : reader.all()) {
    const std::vector<RecordView> in_pack = unpack_records(pack, file.string());
    if (in_pack.front().id != key) fail(file, "is damaged: a pack does not lie under its own key");
    records += in_pack.size();
  }
  if (records != shard.records) {
    fail(file, "is damaged: it has " + std::to_string(records) + " records of " +
                   std::to_string(shard.records));
  }
}

bool is_input(const Manifest& manifest, SampleId id) noexcept {
  return source_of(id) < manifest.sources.size() &&
         position_of(id) < manifest.sources[source_of(id)].inputs;
}

std::string list_of(const std::vector<std::string>& selections) {
  std::string text;
  for (const std::string& name : selections) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "it has none, make one with winnow dedup" : "it has " + text;
}

}  // namespace

void check_selection_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 200 && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
                    });
  if (!good) {
    throw UsageError("'" + name +
                     "' cannot name a selection: use letters, digits, '.', '_' and "
                     "'-', not starting with '.'");
  }
}

struct Cache::State {
  CachePaths paths;
  Manifest manifest;
  std::string digest;
  std::vector<lmdb::Reader> shards;  // as manifest.shards
};

Cache Cache::open(const fs::path& root, Verify verify) {
  auto state = std::make_unique<State>();
  State& s = *state;
  s.paths.root = root;
  s.manifest = read_manifest(s.paths);
  s.digest = pipeline::digest(s.manifest);
  if (!s.manifest.shards.empty()) check_folder(s.paths);
  s.shards.reserve(s.manifest.shards.size());
  for (const ShardInfo& shard : s.manifest.shards) {
    s.shards.push_back(open_shard(s.paths, shard, verify));
  }
  return Cache(std::move(state));
}

Cache::Cache(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&&) noexcept = default;

const CachePaths& Cache::paths() const noexcept { return state_->paths; }
const Manifest& Cache::manifest() const noexcept { return state_->manifest; }
const std::string& Cache::digest() const noexcept { return state_->digest; }

RecordView Cache::record(SampleId id) const {
  const State& s = *state_;
  const auto& shards = s.manifest.shards;
  const auto shard =
      std::lower_bound(shards.begin(), shards.end(), id,
                       [](const ShardInfo& row, SampleId i) { return row.last_id < i; });
  if (shard != shards.end() && shard->first_id <= id) {
    const auto& reader = s.shards[static_cast<std::size_t>(shard - shards.begin())];
    const fs::path file = s.paths.root / shard->file;
    const BytesView pack = reader.at_or_before(id).second;
    if (!pack.empty()) {
      const FoundRecord found =
          find_record(pack, id, file.string() + ", record " + std::to_string(id));
      if (found.found) return found.record;
    }
    check_packs(reader, *shard, file);
  }
  throw Error("there is no record " + std::to_string(id) + " in " + s.paths.root.string() +
              (shards.empty()
                   ? ": it was made without storing images"
                   : ": no such input, or one that could not be read (see ledger.jsonl)"));
}

// Both files are the manifest's by their hash; that they speak of the same inputs as it does, and
// so of the same as each other, only a cache that was put together by somebody lacks.
dedup::Fingerprints Cache::read_fingerprints() const {
  const fs::path file = state_->paths.fingerprints();
  dedup::Fingerprints table = dedup::parse_fingerprints(
      read_checked(file, state_->manifest.fingerprints_hash), file.string());
  const bool good =
      table.size() == state_->manifest.ledger.at("ok") &&
      std::ranges::all_of(table.ids, [&](SampleId id) { return is_input(state_->manifest, id); });
  if (!good) fail(file, "is of another cache: its rows are not the manifest's inputs");
  return table;
}

std::vector<LedgerRow> Cache::read_ledger() const {
  const fs::path file = state_->paths.ledger();
  const Bytes bytes = read_checked(file, state_->manifest.ledger_hash);
  std::vector<LedgerRow> ledger = parse_ledger(std::string(as_text(bytes)), file.string());
  const bool good =
      ledger.size() == state_->manifest.inputs && count_fates(ledger) == state_->manifest.ledger &&
      std::ranges::all_of(ledger,
                          [&](const LedgerRow& row) { return is_input(state_->manifest, row.id); });
  if (!good) fail(file, "is of another cache: its lines are not the manifest's inputs");
  return ledger;
}

std::vector<std::string> Cache::selections() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(state_->paths.root / "selections", ignored)) {
    if (entry.path().extension() == ".selection") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

dedup::Selection Cache::read_selection(const std::string& name) const {
  check_selection_name(name);
  const fs::path file = state_->paths.selection(name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw UsageError(state_->paths.root.string() + " has no selection '" + name + "'; " +
                     list_of(selections()));
  }
  dedup::Selection selection = dedup::parse_selection(read_file(file), file.string());
  if (selection.cache_digest != state_->digest) {
    throw UsageError(file.string() +
                     " was made for another cache; make it again with winnow dedup");
  }
  return selection;
}

void Cache::write_selection(const dedup::Selection& selection) const {
  check_selection_name(selection.name);
  if (selection.cache_digest != state_->digest) {
    throw UsageError("selection '" + selection.name + "' was made for another cache than " +
                     state_->paths.root.string());
  }
  const fs::path file = state_->paths.selection(selection.name);
  make_directories(file.parent_path());
  write_file_durably(file, dedup::serialize(selection));
}

}  // namespace winnow::pipeline
