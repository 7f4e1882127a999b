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

// Paths of the files in a cache folder.
struct CachePaths {
  std::filesystem::path root;

  std::filesystem::path manifest() const { return root / "manifest.json"; }
  std::filesystem::path ledger() const { return root / "ledger.jsonl"; }
  std::filesystem::path shards() const { return root / "shards"; }  // a link to tmpfs with --memory
  std::filesystem::path fingerprints() const { return root / "fingerprints" / "table"; }
  // Temporary paths of ledger and fingerprints of an extended cache: from when its new manifest is
  // written until they are moved to the paths above. Named by their hashes in the manifest.
  std::filesystem::path added_fingerprints(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".table");
  }
  std::filesystem::path added_ledger(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".ledger");
  }
  // An empty file that exists if the pixel hashes of all images include alpha; older caches lack
  // it. Not in the manifest, so as not to change its digest.
  std::filesystem::path alpha() const { return root / "alpha"; }
  std::filesystem::path unfinished() const {
    return root / "unfinished";
  }  // exists while a cache is made or extended
  std::filesystem::path selection(const std::string& name) const {
    return root / "selections" / (name + ".selection");
  }
  // The file with the duplicate groups of a selection.
  std::filesystem::path groups(const std::string& name) const {
    return root / "selections" / (name + ".groups");
  }
};

// Whether a selection may have this name, which becomes a file name.
bool is_selection_name(std::string_view name) noexcept;
// Throws UsageError if a selection may not have this name.
void check_selection_name(const std::string& name);

// How much of a cache is checked when it is opened.
// kSizes   The size and the page structure of every shard, so that no damage can crash a reader.
//          Each record is checked when it is read; in shards in memory, except for small records,
//          only the first time.
// kBlocks  Also every byte of every shard, once.
enum class Verify { kSizes, kBlocks };

struct OpenOptions {
  Verify verify = Verify::kSizes;
  // Most bytes of shards that stay mapped after being read, besides the last record. Mapping costs
  // more than reading, so repeated random access needs a large limit.
  std::uint64_t most_mapped = std::uint64_t{64} << 20;
  // Folder with the shards, under their names in the cache; empty: the cache's own. A copy may lack
  // records of some partitions or ids (pipeline/copies/shard_copy.h).
  std::filesystem::path shards_at = {};
  // Numbers of the shards that can be read, ascending; others are not accessed. nullopt: all.
  std::optional<std::vector<std::uint32_t>> held = std::nullopt;

  // Options for reading manifest, tables and selections only. Shards may be anywhere.
  static OpenOptions without_shards() { return {.held = std::vector<std::uint32_t>()}; }
};

// A finished cache, opened for reading. Thread-safe.
// Shards   Must not be changed or truncated while the cache is open. Their folder has a shared lock
//          (flock), if the file system supports it.
// Errors   UsageError if `root` has no manifest (says how to make one). FormatError if a file is
//          damaged, truncated, missing or too new.
class Cache {
 public:
  static Cache open(const std::filesystem::path& root, const OpenOptions& options = {});
  ~Cache();
  Cache(Cache&&) noexcept;

  const CachePaths& paths() const noexcept;
  const Manifest& manifest() const noexcept;
  const std::string& digest() const noexcept;

  // The record of a sample; its views live as long as the cache. `pick` as in find_record().
  // Errors  FormatError for a damaged record (names shard and id). Error if the cache has no such
  //         record, or not on this machine.
  RecordView record(SampleId id, const PickVariant& pick = {}) const;
  // Whether the shard of `id`, and its partition or range of ids, are on this machine. The sample
  // need not have a record.
  bool holds(SampleId id) const noexcept;

  // Calls for_each_packed_size() for all packs of shard number `shard` of the manifest.
  void for_each_packed_size(std::size_t shard,
                            const std::function<void(SampleId id, std::size_t bytes)>& take) const;

  // The table of fingerprints, checked against its hash in the manifest: all columns now, or
  // columns on request while the cache lives.
  dedup::Fingerprints read_fingerprints() const;
  dedup::ColumnSource open_fingerprints() const;
  // The thumbnails, checked against their hash; empty if the cache has none. May outlive the cache.
  dedup::ThumbnailSource open_thumbnails() const;
  std::uint64_t thumbnail_bytes() const;  // size of all thumbnails; nothing else is read or checked
  std::vector<LedgerRow> read_ledger() const;  // checked against its hash
  void for_each_ledger_row(const std::function<void(const LedgerRow&)>& take) const;
  // Calls for_each_remark() for the ledger, which is checked against its hash.
  void for_each_remark(const std::function<void(const LedgerRow&)>& take) const;
  LedgerNames read_names() const;
  std::vector<std::string> selections() const;  // names of existing selections, sorted
  // Reads a selection. Throws UsageError if none has that name (lists the existing ones), or if it
  // was made for another cache.
  dedup::Selection read_selection(const std::string& name) const;
  // Writes a selection durably; replaces one of the same name.
  // groups  its duplicate groups, to store with it; nullptr: none
  void write_selection(const dedup::Selection& selection,
                       const dedup::GroupsWithEvidence* groups = nullptr) const;
  // The duplicate groups that are stored with a selection of this cache; nullopt if there are none,
  // or only those of another selection. FormatError for a damaged file.
  std::optional<dedup::GroupsWithEvidence> read_groups(const dedup::Selection& selection) const;
  // Waits until no other process writes selections, and locks them while the result lives. A
  // selection, its groups, its list and its predecessor are written under one lock.
  Fd lock_selections(const StopRequested& stop = {}) const;
  // Copies the selection that `next` will replace, with its list and groups, to NAME.previous.
  // Returns that name; nullopt if there is none, it is equal to `next`, or it is damaged.
  std::optional<std::string> keep_previous(const dedup::Selection& next) const;

 private:
  struct State;
  explicit Cache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
