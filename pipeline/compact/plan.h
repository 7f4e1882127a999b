#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The rows [begin, end) of the kept ids that are stored in one shard. The functions are pure.
struct KeptRun {
  std::size_t shard = 0;  // number of the shard in the manifest
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Divides the kept ids, which ascend, by shard. Shards without kept ids are left out.
std::vector<KeptRun> plan_runs(std::span<const ShardInfo> shards, std::span<const SampleId> kept);

}  // namespace winnow::pipeline
