#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Locations in a cache folder.
struct CachePaths {
  std::filesystem::path root;

  std::filesystem::path manifest() const { return root / "manifest.json"; }
  std::filesystem::path ledger() const { return root / "ledger.jsonl"; }
  std::filesystem::path shards() const { return root / "shards"; }  // a link to tmpfs with --memory
  std::filesystem::path fingerprints() const { return root / "fingerprints" / "table"; }
  // Their locations between the moment an extended cache gets its new manifest and the moment they
  // are moved to the places above. Named by their hashes in the manifest.
  std::filesystem::path added_fingerprints(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".table");
  }
  std::filesystem::path added_ledger(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".ledger");
  }
  // An empty file that exists if the pixel hashes of all images include alpha; older caches lack
  // it. Separate from the manifest, so as not to change its digest.
  std::filesystem::path alpha() const { return root / "alpha"; }
  std::filesystem::path unfinished() const {
    return root / "unfinished";
  }  // only while one is made or extended
  std::filesystem::path selection(const std::string& name) const {
    return root / "selections" / (name + ".selection");
  }
  // The groups of that selection.
  std::filesystem::path groups(const std::string& name) const {
    return root / "selections" / (name + ".groups");
  }
};

// Whether `name` is allowed for a selection: it becomes a file name.
bool is_selection_name(std::string_view name) noexcept;
// Throws UsageError if it is not.
void check_selection_name(const std::string& name);

// kSizes: checks the size and the page structure of every shard, so that no damage can crash a
// reader. Each record is checked when read; for shards in memory, except small records, only the
// first time.
// kBlocks: also reads every byte of every shard once.
enum class Verify { kSizes, kBlocks };

struct OpenOptions {
  Verify verify = Verify::kSizes;
  // Limit of shard bytes that stay mapped after being read, besides the last record. Mapping costs
  // more than reading, so repeated random access needs a large limit.
  std::uint64_t most_mapped = std::uint64_t{64} << 20;
  // Folder of the shards, under their names in the cache; empty: the cache's own. A copy may lack
  // records of some partitions or ids (pipeline/copies/shard_copy.h).
  std::filesystem::path shards_at = {};
  // Numbers of the existing shards, ascending; no other is accessed. nullopt: all.
  std::optional<std::vector<std::uint32_t>> held = std::nullopt;

  // For readers of manifest, tables and selections only, wherever the shards are.
  static OpenOptions without_shards() { return {.held = std::vector<std::uint32_t>()}; }
};

// A finished cache, opened for reading. Thread-safe.
// Shards   Must not be changed or truncated meanwhile. Their folder carries a shared lock (flock),
//          if the file system supports it.
// Errors   UsageError if `root` has no manifest (says how to make one). FormatError if a file is
//          damaged, truncated, missing or too new.
class Cache {
 public:
  static Cache open(const std::filesystem::path& root, const OpenOptions& options = {});
  ~Cache();
  Cache(Cache&&) noexcept;

  const CachePaths& paths() const noexcept;
  const Manifest& manifest() const noexcept;
  const std::string& digest() const noexcept;  // digest of the manifest

  // The record of `id`; its views live as long as the cache. `pick` as in find_record().
  // Errors  FormatError for a damaged record (names shard and id); Error if there is none or it is
  //         not held.
  RecordView record(SampleId id, const PickVariant& pick = {}) const;
  // Whether the shard of `id`, and its partition or range of ids, are held; a record need not
  // exist.
  bool holds(SampleId id) const noexcept;

  // Calls for_each_packed_size() for the packs of shard `shard` of the manifest.
  void for_each_packed_size(std::size_t shard,
                            const std::function<void(SampleId id, std::size_t bytes)>& take) const;

  // The fingerprints, checked against the manifest's hash: all columns now, or columns on request
  // while the cache lives.
  dedup::Fingerprints read_fingerprints() const;
  dedup::ColumnSource open_fingerprints() const;
  // Likewise; empty if the cache has none. May outlive the cache.
  dedup::ThumbnailSource open_thumbnails() const;
  std::uint64_t thumbnail_bytes() const;       // total size; nothing else is read or checked
  std::vector<LedgerRow> read_ledger() const;  // likewise
  void for_each_ledger_row(const std::function<void(const LedgerRow&)>& take) const;  // likewise
  // for_each_remark() of the ledger.
  void for_each_remark(const std::function<void(const LedgerRow&)>& take) const;
  LedgerNames read_names() const;               // likewise
  std::vector<std::string> selections() const;  // existing names, sorted
  // UsageError if there is none of that name (lists the existing ones), or if it is for another
  // cache.
  dedup::Selection read_selection(const std::string& name) const;
  // Durable; replaces.
  // groups  The reported groups, stored beside it; nullptr: none.
  void write_selection(const dedup::Selection& selection,
                       const dedup::GroupsWithEvidence* groups = nullptr) const;
  // The groups stored beside a selection of this cache; nullopt if there are none, or those of
  // another one. FormatError for a damaged file.
  std::optional<dedup::GroupsWithEvidence> read_groups(const dedup::Selection& selection) const;
  // Waits until no other process writes selections, and keeps others from it while the result
  // lives: a selection, its groups, its list and its predecessor belong together.
  Fd lock_selections(const StopRequested& stop = {}) const;
  // Copies the selection that `next` would replace, with its list and groups, to NAME.previous.
  // Returns that name; nullopt if there is none, it is the same, or it is damaged.
  std::optional<std::string> keep_previous(const dedup::Selection& next) const;

 private:
  struct State;
  explicit Cache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
