#pragma once

#include <filesystem>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "common/json.h"
#include "pipeline/copies/shard_copy.h"

namespace winnow::app {

struct CacheRequest {
  std::string cache;  // a path; for `drop` also a digest
  std::filesystem::path memory = pipeline::kMemoryFolder;
  bool deletes = false;
  bool json = false;
  MemoryOptions machines;
};

// Loads the shards of a cache into memory. Collective.
void load_cache(const CacheRequest& request, Session& session);

// Lists the caches that are in memory.
void list_copies(const CacheRequest& request, const Session& session);

// Removes copies in memory. The cache itself is deleted with `deletes`, or if it is in memory only.
void drop_copies(const CacheRequest& request, const Session& session);

}  // namespace winnow::app
