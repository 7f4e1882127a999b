#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Plan for retrying the unreadable inputs of a finished cache, with the same result as a fresh
// ingest of everything.
struct RetryPlan {
  std::vector<SampleId> ids;          // ids of these inputs, ascending
  std::vector<PlacedSource> sources;  // the given sources, with their places in the cache
  // Shards that contain such an input, or that now end elsewhere because a repaired file has
  // another size.
  std::vector<ShardPlan> shards;
  // For each shard, whether it is rewritten in any case. The others are only rewritten if an input
  // has become readable.
  std::vector<bool> made_anew;
  // All shard files that the given sources will have.
  std::set<std::string> files;
};

// Plans a retry and updates `manifest` (that of `base`) to the sources. Each must be one of
// `base`'s, unchanged except for the bytes of unreadable inputs.
// Errors  UsageError if one is not, and if duplicates were left out of `base`.
RetryPlan plan_retry(const Cache& base, std::vector<DescribedSource> sources,
                     const IngestOptions& options, Manifest& manifest);

}  // namespace winnow::pipeline
