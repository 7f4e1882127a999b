#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// What is to be done to ask again for the inputs that a finished cache could not read, with the
// result that ingesting all anew would have.
struct RetryPlan {
  std::vector<SampleId> ids;          // of these inputs, ascending
  std::vector<PlacedSource> sources;  // those given, where they are in the cache
  // That one of these inputs is of, or that end elsewhere now: a repaired file has another size.
  std::vector<ShardPlan> shards;
  // One entry each: it is made anew, whatever is read. The others are if something can be read.
  std::vector<bool> made_anew;
  // Of the shards that the sources given will have.
  std::set<std::string> files;
};

// `sources` must be some of `base`, each as it was but for the bytes of inputs that could not be
// read; then `manifest`, the one of `base`, is brought to say so. UsageError where one is not, and
// where samples were left out of `base` as duplicates.
RetryPlan plan_retry(const Cache& base, std::vector<DescribedSource> sources,
                     const IngestOptions& options, Manifest& manifest);

}  // namespace winnow::pipeline
