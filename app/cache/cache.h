#pragma once

#include <filesystem>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "common/json.h"
#include "pipeline/copies/shard_copy.h"

namespace winnow::app {

struct CacheRequest {
  std::string cache;  // a path; of `drop` also a digest
  std::filesystem::path memory = pipeline::kMemoryFolder;
  bool deletes = false;
  bool json = false;
  MemoryOptions machines;
};

// Loads the shards of a cache into memory. Collective.
void load_cache(const CacheRequest& request, Session& session);

// Prints what caches are in memory.
void list_copies(const CacheRequest& request, const Session& session);

// The one thing that deletes data asks for a word of its own, unless memory is all there is of it.
void drop_copies(const CacheRequest& request, const Session& session);

}  // namespace winnow::app
