#pragma once

#include <filesystem>
#include <string>

#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The file of the shard named "00007": "shards/00007.mdb", relative to the cache; and the reverse.
std::string shard_file(const std::string& shard);
std::string shard_name(const ShardInfo& shard);

// added_shard_file(): where a rewritten shard waits between the moment that the manifest names it
// and the moment that it is moved there; named by the hash of its blocks. path_of(): where its
// bytes are now.
std::string added_shard_file(const ShardInfo& shard);
std::filesystem::path path_of(const CachePaths& paths, const ShardInfo& shard);

// Fills in bytes and block_hashes of info.file, which must have been written and synced, and syncs
// its folder.
// Errors  SystemError.
void measure_shard(const CachePaths& paths, ShardInfo& info);

}  // namespace winnow::pipeline
