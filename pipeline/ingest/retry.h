#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// A plan for reading the unreadable inputs of a finished cache again. The result is that of a fresh
// ingest of everything.
struct RetryPlan {
  std::vector<SampleId> ids;          // ids of the unreadable inputs, ascending
  std::vector<PlacedSource> sources;  // the given sources, with their numbers in the cache
  // Shards that contain an unreadable input, or that now end elsewhere because a repaired file has
  // another size.
  std::vector<ShardPlan> shards;
  // For each shard, whether it is rewritten in any case. The others are rewritten only if an input
  // has become readable.
  std::vector<bool> made_anew;
  // Names of all shard files that the given sources will have.
  std::set<std::string> files;
};

// Plans a retry, and updates `manifest` (that of `base`) for the sources. Each source must be one
// of `base`, unchanged except for the bytes of unreadable inputs.
// Errors  UsageError if a source is not, or if duplicates were left out of `base`
RetryPlan plan_retry(const Cache& base, std::vector<DescribedSource> sources,
                     const IngestOptions& options, Manifest& manifest);

}  // namespace winnow::pipeline
