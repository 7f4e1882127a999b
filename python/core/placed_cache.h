#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/comm/communicator.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/place_shards.h"
#include "pipeline/store/cache.h"

namespace winnow::python {

// The machines of a job, as a loader sees them.
struct Machines {
  // Ranks that share the cache out; those of a single machine where each holds all.
  std::shared_ptr<comm::Communicator> comm = nullptr;
  bool others = false;  // where each holds all: the job has other machines than this
};

// A cache whose samples are to be loaded, read where that is best.
struct PlacedCache {
  std::filesystem::path root;
  // Carries the copy of its shards along, which is in use as long as this is, and the communicator.
  std::shared_ptr<const pipeline::Cache> cache;
  std::shared_ptr<const pipeline::Spread> spread = nullptr;  // null: all of it is here
  std::optional<std::filesystem::path> copy = std::nullopt;  // folder of it, where there is one
};

// With its shards where pipeline::place_shards() has them. Collective over `machines.comm`. Throws
// as place_shards(), open_cache() and spread() do; UsageError for want of room says what would
// share the cache out, where each machine of several is to hold all.
PlacedCache place_cache(const std::filesystem::path& root, const pipeline::PlaceOptions& options,
                        const Machines& machines);

// Without its shards: for the order of its samples alone.
PlacedCache open_tables(const std::filesystem::path& root);

}  // namespace winnow::python
