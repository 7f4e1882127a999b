#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "dedup/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// The parts a Cache is read by, each of which says by itself what is wrong with it. They throw as
// Cache does.

// With the digest it has: fields that only a newer winnow knows are in that, too.
struct ReadManifest {
  Manifest manifest;
  std::string digest;
};
ReadManifest read_manifest(const CachePaths& paths);
void check_shards_folder(const CachePaths& paths);
// `file` is where its bytes are, see path_of().
lmdb::Reader open_shard(const std::filesystem::path& file, const ShardInfo& shard, Verify verify);
// Bytes [first, last] of the first block of a shard that is not what was written, and how many such
// blocks there are.
struct BadBlocks {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
BadBlocks find_bad_blocks(const std::filesystem::path& file, const ShardInfo& shard,
                          const std::function<void(std::uint64_t bytes)>& done);
// Both found to have the hashes that the manifest has of them.
InputFile open_table(const CachePaths& paths, const Manifest& manifest);
InputFile open_ledger(const CachePaths& paths, const Manifest& manifest);
dedup::Fingerprints read_columns(const InputFile& file, const Manifest& manifest,
                                 const dedup::ColumnNames* columns);
void check_columns(const dedup::ColumnSource& columns, const Manifest& manifest);
void check_thumbnails(const dedup::ThumbnailSource& thumbnails, std::size_t rows);
std::vector<std::string> list_selections(const CachePaths& paths);
// Throws FormatError naming `where` for a label of no class.
void check_labels(std::span<const std::int32_t> labels, const Manifest& manifest,
                  const std::string& where);
// UsageError unless it is there and made for the cache of that digest.
dedup::Selection read_selection_for(const CachePaths& paths, const std::string& digest,
                                    const std::string& name);
void for_each_ledger_row(const CachePaths& paths, const Manifest& manifest,
                         const std::function<void(const LedgerRow&)>& take);

}  // namespace winnow::pipeline
