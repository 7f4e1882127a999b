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
#include "dedup/fingerprints.h"
#include "dedup/selection.h"
#include "dedup/told_groups.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Where things are in a cache directory.
struct CachePaths {
  std::filesystem::path root;

  std::filesystem::path manifest() const { return root / "manifest.json"; }
  std::filesystem::path ledger() const { return root / "ledger.jsonl"; }
  std::filesystem::path shards() const { return root / "shards"; }  // a link to tmpfs with --memory
  std::filesystem::path fingerprints() const { return root / "fingerprints" / "table"; }
  // Where both are from the moment a cache that was added to has its new manifest, until they are
  // moved there; of their hashes in it.
  std::filesystem::path added_fingerprints(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".table");
  }
  std::filesystem::path added_ledger(const std::string& hash) const {
    return root / "fingerprints" / (hash + ".ledger");
  }
  // There, and empty, where the pixel hashes of all images took alpha into account; older caches
  // lack it. Beside the manifest, whose digest it leaves as it was.
  std::filesystem::path alpha() const { return root / "alpha"; }
  std::filesystem::path unfinished() const {
    return root / "unfinished";
  }  // only while one is made or added to
  std::filesystem::path selection(const std::string& name) const {
    return root / "selections" / (name + ".selection");
  }
  // The groups of that one.
  std::filesystem::path groups(const std::string& name) const {
    return root / "selections" / (name + ".groups");
  }
};

// Whether `name` can name a selection: it becomes the name of a file.
bool is_selection_name(std::string_view name) noexcept;
// Throws UsageError where it cannot.
void check_selection_name(const std::string& name);

// kSizes checks the size and the page structure of every shard, so that no damage can crash a
// reader; each record is checked when it is read, or, where the shards are in the machine's memory,
// when it is first read (but for small ones). kBlocks also reads every byte of every shard
// once.
enum class Verify { kSizes, kBlocks };

struct OpenOptions {
  Verify verify = Verify::kSizes;
  // Bytes of the shards that stay mapped when they were read, at most, beyond what the last record
  // brought. To map them again costs more than to read them, so who goes through the records at
  // random again and again lets them stay.
  std::uint64_t most_mapped = std::uint64_t{64} << 20;
  // Folder the shards are in, by the names they have in the cache's own; empty: that. A copy there
  // may lack the records of some partitions or ids (pipeline/store/shard_copy.h).
  std::filesystem::path shards_at = {};
  // Numbers of the shards that are there, ascending: no other is looked at. None given: all.
  std::optional<std::vector<std::uint32_t>> held = std::nullopt;

  // For who wants the manifest, tables and selections alone, wherever the shards are.
  static OpenOptions without_shards() { return {.held = std::vector<std::uint32_t>()}; }
};

// A finished cache, opened for reading. Throws UsageError when `root` holds no manifest (saying how
// to make one), FormatError when a file is damaged, cut, missing or newer. Safe from many threads.
// Shards must not be changed or cut while it is open; the folder they are in carries a shared lock
// (flock), where the file system has any, as long as it is.
class Cache {
 public:
  static Cache open(const std::filesystem::path& root, const OpenOptions& options = {});
  ~Cache();
  Cache(Cache&&) noexcept;

  const CachePaths& paths() const noexcept;
  const Manifest& manifest() const noexcept;
  const std::string& digest() const noexcept;  // of the manifest

  // The record of `id`, its views living as long as the cache. Throws FormatError when the record
  // is damaged (naming shard and id), Error when there is none or it is not held. `pick` as
  // in find_record().
  RecordView record(SampleId id, const PickVariant& pick = {}) const;
  // Whether the shard of `id`, and the partition or run of ids that it belongs to, are among those
  // held, be there a record of it or not.
  bool holds(SampleId id) const noexcept;

  // for_each_packed_size() of the packs of shard `shard` of the manifest.
  void for_each_packed_size(std::size_t shard,
                            const std::function<void(SampleId id, std::size_t bytes)>& take) const;

  // Checked against the manifest's hash: all columns, or those that will be asked for, as long as
  // the cache lives.
  dedup::Fingerprints read_fingerprints() const;
  dedup::ColumnSource open_fingerprints() const;
  // Likewise; empty where the cache has none. May outlive it.
  dedup::ThumbnailSource open_thumbnails() const;
  std::uint64_t thumbnail_bytes() const;       // of all; nothing else is read, nor checked
  std::vector<LedgerRow> read_ledger() const;  // likewise
  void for_each_ledger_row(const std::function<void(const LedgerRow&)>& take) const;  // likewise
  // Of the ledger, what its for_each_remark gives.
  void for_each_remark(const std::function<void(const LedgerRow&)>& take) const;
  LedgerNames read_names() const;               // likewise
  std::vector<std::string> selections() const;  // names of those there are, in order
  // UsageError when there is none of that name (naming those there are) or it is for another cache.
  dedup::Selection read_selection(const std::string& name) const;
  // Durable; replaces. `groups`: those that it was told with, which are kept beside it. nullptr:
  // none are.
  void write_selection(const dedup::Selection& selection,
                       const dedup::ToldGroups* groups = nullptr) const;
  // The groups kept beside a selection of this cache; nothing where none are, or other ones.
  // FormatError where their file is damaged.
  std::optional<dedup::ToldGroups> read_groups(const dedup::Selection& selection) const;
  // Waits until no other process writes selections, and keeps others from it while the result
  // lives: for a selection, its groups, its list and the one before it, which belong together.
  Fd lock_selections(const StopRequested& stop = {}) const;
  // Copies the selection that `next` would replace, and the list and the groups beside it, to
  // NAME.previous, which is replaced. Returns that name; nothing where there is none, it is the
  // same, or it is damaged.
  std::optional<std::string> keep_previous(const dedup::Selection& next) const;

 private:
  struct State;
  explicit Cache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
