#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/run/options.h"
#include "train/run/record/setup.h"

namespace winnow::train {

// A run keeps the order of classes with which it began. It can be resumed on a cache with another
// order of classes: labels are mapped, and results have the same bits.

// Reads the configuration of the run to resume, on rank 0, and sends it to all. Collective.
// Out  nullopt: the run is new, or its config.json is damaged, which RunDirectory::find() reports.
std::optional<StoredConfig> begun_config(const RunOptions& run, comm::Communicator& comm);

// Whether the run began with this cache's images and labels. The order of the classes does not
// matter.
bool began_with(const StoredConfig& begun, const pipeline::Cache& cache);

// How labels of a cache are converted to the class order of a run.
struct RunOrder {
  std::vector<std::int32_t> label_of;  // for each label of the cache, the label in the run
  std::string cache_digest;  // digest of the manifest of the cache with which the run began
};

// Computes the conversion from a cache's class order to that of the run. Pure.
// In   `classes`, `digest_by_names`: of the cache. `classes` is as in Model::classes.
// Out  nullopt if the orders are equal, or if the cache has other classes, labels or images than
//      the run's.
std::optional<RunOrder> order_of_run(const StoredConfig& begun,
                                     const std::vector<std::string>& classes,
                                     const std::string& digest_by_names);

}  // namespace winnow::train
