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
  std::span<const ChunkPlan> chunks;  // to process, in order; whole shards
  Store store = Store::kOriginal;
  int threads = 0;  // TBB workers; 0: TBB's default
  int readers = 1;  // maximum
};

// Destination of progress, and what is already done.
struct ProgressFrom {
  Progress so_far;
  const ProgressSink& sink;
};

// Runs an ingest: threads of their own read chunks, TBB workers process them, and one more thread
// writes, in order, so that slow storage blocks no worker.
// Memory    Data between reading and writing is limited by `gates` and by a number of chunks.
// check     Called before each input; may throw.
// Progress  Starts at `so_far`.
// Errors    The first exception, in the order of chunks.
StageTimes run_chunks(const RunPlan& plan, const ChunkMaker& maker, Gates& gates, ShardSink& sink,
                      const ProgressFrom& progress, const std::function<void()>& check);

}  // namespace winnow::pipeline
