#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/run/options.h"
#include "train/run/record/setup.h"

namespace winnow::train {

// A run keeps the order of classes that it began with: a cache that has them in another order goes
// on with it, label by label, to the same bits.

// The configuration that a run which goes on began with, read on rank 0. None: it begins, or its
// config.json is damaged, as RunDirectory::find() says. Collective.
std::optional<StoredConfig> begun_config(const RunOptions& run, comm::Communicator& comm);

// Whether the run began with the images and labels of this cache, in whatever order of classes.
bool began_with(const StoredConfig& begun, const pipeline::Cache& cache);

// How a cache comes into the order of a run.
struct RunOrder {
  std::vector<std::int32_t> label_of;  // of each label of the cache the run's
  std::string cache_digest;            // of the cache that the run began with
};

// None where the orders are the same, or the cache has other classes, labels or images than the run
// began with: see digest_by_names(). `classes` as Model::classes. Pure.
std::optional<RunOrder> order_of_run(const StoredConfig& begun,
                                     const std::vector<std::string>& classes,
                                     const std::string& digest_by_names);

}  // namespace winnow::train
