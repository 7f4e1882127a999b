#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/comm/communicator.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/place_shards.h"
#include "pipeline/store/cache.h"

namespace winnow::python {

// The machines of a job as seen by a loader.
struct Machines {
  // Ranks that share the cache; those of a single machine if each machine holds everything.
  std::shared_ptr<comm::Communicator> comm = nullptr;
  bool others = false;  // each machine holds everything, and the job has other machines
};

// A cache for loading samples, read from the best place.
struct PlacedCache {
  std::filesystem::path root;
  // Keeps the copy of its shards (which stays in use) and the communicator alive.
  std::shared_ptr<const pipeline::Cache> cache;
  std::shared_ptr<const pipeline::Spread> spread = nullptr;  // null: this machine has everything
  std::optional<std::filesystem::path> copy = std::nullopt;  // folder of the copy, if there is one
};

// Opens a cache with its shards where pipeline::place_shards() puts them. Collective over
// `machines.comm`.
// Errors  As place_shards(), open_cache() and spread(). If there is not enough memory and each of
//         several machines holds everything, UsageError says how to share the cache.
PlacedCache place_cache(const std::filesystem::path& root, const pipeline::PlaceOptions& options,
                        const Machines& machines);

// Opens it without shards: only for the order of its samples.
PlacedCache open_tables(const std::filesystem::path& root);

}  // namespace winnow::python
