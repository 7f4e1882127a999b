#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "pipeline/load/place_shards.h"
#include "pipeline/store/cache.h"

namespace winnow::python {

// A cache whose samples are to be loaded, read where that is best.
struct PlacedCache {
  std::filesystem::path root;
  // Carries the copy of its shards along, which is in use as long as this is.
  std::shared_ptr<const pipeline::Cache> cache;
  std::optional<std::filesystem::path> copy = std::nullopt;  // folder of it, where there is one
};

// With its shards where pipeline::place_shards() has them on a single machine: all of them.
// `several_machines`: the job has others, so that UsageError for want of room says what would share
// them out. Throws as place_shards() and open_cache() do.
PlacedCache place_cache(const std::filesystem::path& root, const pipeline::PlaceOptions& options,
                        bool several_machines);

// Without its shards: for the order of its samples alone.
PlacedCache open_tables(const std::filesystem::path& root);

}  // namespace winnow::python
