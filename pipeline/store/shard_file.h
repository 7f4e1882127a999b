#pragma once

#include <cstddef>
#include <string>

#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

std::string shard_file(std::size_t shard);  // "shards/00007.mdb", relative to the cache

// Fills in bytes and block_hashes of info.file, which was written and synced, and syncs its folder.
// Throws SystemError.
void measure_shard(const CachePaths& paths, ShardInfo& info);

}  // namespace winnow::pipeline
