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
// order: labels are mapped, and results have the same bits.

// The configuration of the run to resume, read on rank 0. nullopt: the run starts, or its
// config.json is damaged, which RunDirectory::find() reports. Collective.
std::optional<StoredConfig> begun_config(const RunOptions& run, comm::Communicator& comm);

// Whether the run began with this cache's images and labels, in any order of classes.
bool began_with(const StoredConfig& begun, const pipeline::Cache& cache);

// How to bring a cache into the order of a run.
struct RunOrder {
  std::vector<std::int32_t> label_of;  // maps labels of the cache to those of the run
  std::string cache_digest;            // digest of the cache with which the run began
};

// nullopt if the orders are equal, or if the cache has other classes, labels or images than the
// run's: see digest_by_names(). `classes` as in Model::classes. Pure.
std::optional<RunOrder> order_of_run(const StoredConfig& begun,
                                     const std::vector<std::string>& classes,
                                     const std::string& digest_by_names);

}  // namespace winnow::train
