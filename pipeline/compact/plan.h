#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// What of a shard stays: the rows [begin, end) of those that are kept. Pure functions all.
struct KeptRun {
  std::size_t shard = 0;  // its place in the manifest
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Runs of the ids that are kept, ascending, by the shards they lie in; shards of which nothing is
// kept are left out.
std::vector<KeptRun> plan_runs(std::span<const ShardInfo> shards, std::span<const SampleId> kept);

}  // namespace winnow::pipeline
