#pragma once

#include <filesystem>
#include <string>

#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// "shards/00007.mdb", relative to the cache, of the shard called "00007"; and the other way.
std::string shard_file(const std::string& shard);
std::string shard_name(const ShardInfo& shard);

// Where a shard that is made again waits, from the moment the manifest of that file name has it
// until it is moved there: of the hash of its blocks. And where its bytes are now.
std::string added_shard_file(const ShardInfo& shard);
std::filesystem::path path_of(const CachePaths& paths, const ShardInfo& shard);

// Fills in bytes and block_hashes of info.file, which was written and synced, and syncs its folder.
// Throws SystemError.
void measure_shard(const CachePaths& paths, ShardInfo& info);

}  // namespace winnow::pipeline
