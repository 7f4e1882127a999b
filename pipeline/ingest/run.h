#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/progress.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/shard_sink.h"
#include "pipeline/ingest/stages.h"

namespace winnow::pipeline {

// The work of one process in an ingest.
struct RunPlan {
  std::span<const PlacedSource> sources;
  std::span<const ShardPlan> shards;
  std::span<const ChunkPlan> chunks;  // those to do, in order; whole shards
  Store store = Store::kOriginal;
  int threads = 0;  // TBB workers; 0: what TBB has
  int readers = 1;  // at most
};

// Where progress goes, and what is done by then.
struct ProgressFrom {
  Progress so_far;
  const ProgressSink& sink;
};

// Reads the chunks by threads of their own, makes what is to be stored by TBB workers, and writes
// it, in order, by one more thread: storage that is slow keeps no worker from its work. What is
// between reading and writing is bounded by `gates` and by a number of chunks. What any of it
// throws first, in the order of chunks, is thrown here, as is what `check` throws, which is called
// before each input; progress begins with `so_far`.
StageTimes run_chunks(const RunPlan& plan, const ChunkMaker& maker, Gates& gates, ShardSink& sink,
                      const ProgressFrom& progress, const std::function<void()>& check);

}  // namespace winnow::pipeline
