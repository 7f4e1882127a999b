#pragma once

#include <filesystem>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "common/json.h"
#include "pipeline/copies/shard_copy.h"

namespace winnow::app {

struct CacheRequest {
  std::string cache;  // path of the cache; for drop_copies() also its digest
  std::filesystem::path memory = pipeline::kMemoryFolder;
  bool deletes = false;
  bool json = false;
  MemoryOptions machines;
};

// Loads the shards of a cache into memory. Collective: all ranks call it.
void load_cache(const CacheRequest& request, Session& session);

// Lists the caches whose shards are in memory.
void list_copies(const CacheRequest& request, const Session& session);

// Removes copies of a cache from memory. Deletes the cache itself, too, if `deletes` is set or if
// it is in memory only.
void drop_copies(const CacheRequest& request, const Session& session);

}  // namespace winnow::app
