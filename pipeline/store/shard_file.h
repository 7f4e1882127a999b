#pragma once

#include <filesystem>
#include <string>

#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The file of the shard named "00007": "shards/00007.mdb", relative to the cache; and the name of a
// shard by its file.
std::string shard_file(const std::string& shard);
std::string shard_name(const ShardInfo& shard);

// added_shard_file() is the temporary file of a rewritten shard, from when the manifest names the
// shard until the file is moved to its final path; named by the hash of its blocks. path_of() is
// where the shard's bytes are now.
std::string added_shard_file(const ShardInfo& shard);
std::filesystem::path path_of(const CachePaths& paths, const ShardInfo& shard);

// Sets bytes and block_hashes of `info` by its file, which must have been written and synced. Syncs
// the file's folder.
// Errors  SystemError.
void measure_shard(const CachePaths& paths, ShardInfo& info);

}  // namespace winnow::pipeline
