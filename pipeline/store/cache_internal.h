#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// The steps of reading a cache. Each describes its own errors, and throws as Cache.

// A manifest with its digest, which covers fields that only a newer winnow knows.
struct ReadManifest {
  Manifest manifest;
  std::string digest;
};
ReadManifest read_manifest(const CachePaths& paths);
void check_shards_folder(const CachePaths& paths);
// Opens the file of a shard. `file` has its bytes, see path_of().
lmdb::Reader open_shard(const std::filesystem::path& file, const ShardInfo& shard, Verify verify);
// The blocks of a shard that differ from what was written: their number, and the bytes [first,
// last] of the first one.
struct BadBlocks {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
BadBlocks find_bad_blocks(const std::filesystem::path& file, const ShardInfo& shard,
                          const std::function<void(std::uint64_t bytes)>& done);
// Open the files of the fingerprints and of the ledger. Both are checked against the hashes in the
// manifest.
InputFile open_table(const CachePaths& paths, const Manifest& manifest);
InputFile open_ledger(const CachePaths& paths, const Manifest& manifest);
dedup::Fingerprints read_columns(const InputFile& file, const Manifest& manifest,
                                 const dedup::ColumnNames* columns);
void check_columns(const dedup::ColumnSource& columns, const Manifest& manifest);
void check_thumbnails(const dedup::ThumbnailSource& thumbnails, std::size_t rows);
std::vector<std::string> list_selections(const CachePaths& paths);
// Throws FormatError naming `where` for a label that has no class.
void check_labels(std::span<const std::int32_t> labels, const Manifest& manifest,
                  const std::string& where);
// Reads a selection. Throws UsageError unless it exists and was made for the cache with that
// digest.
dedup::Selection read_selection_for(const CachePaths& paths, const std::string& digest,
                                    const std::string& name);
void for_each_ledger_row(const CachePaths& paths, const Manifest& manifest,
                         const std::function<void(const LedgerRow&)>& take);

}  // namespace winnow::pipeline
