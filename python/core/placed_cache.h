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
  // Ranks that share the cache; if each machine holds everything, the ranks of this machine only.
  std::shared_ptr<comm::Communicator> comm = nullptr;
  bool others = false;  // true if each machine holds everything and the job has other machines
};

// A cache for loading samples, whose shards are read from the best place.
struct PlacedCache {
  std::filesystem::path root;
  // The open cache. Keeps the copy of its shards, which stays in use, and the communicator alive.
  std::shared_ptr<const pipeline::Cache> cache;
  std::shared_ptr<const pipeline::Spread> spread = nullptr;  // null: this machine has all records
  // Folder of the copy in memory; nullopt: no copy.
  std::optional<std::filesystem::path> copy = std::nullopt;
};

// Opens a cache for loading. pipeline::place_shards() decides where its shards are read. Collective
// over `machines.comm`.
// Errors  As place_shards(), open_cache() and spread(). If there is not enough memory and each of
//         several machines holds everything, UsageError says how to share the cache.
PlacedCache place_cache(const std::filesystem::path& root, const pipeline::PlaceOptions& options,
                        const Machines& machines);

// Opens a cache without its shards, only for the order of its samples.
PlacedCache open_tables(const std::filesystem::path& root);

}  // namespace winnow::python
