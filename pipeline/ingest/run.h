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
  std::span<const ChunkPlan> chunks;  // chunks to process, in order; all chunks of each shard
  Store store = Store::kOriginal;
  int threads = 0;  // threads of TBB; 0: TBB's default
  int readers = 1;  // most reading threads
};

// Where progress is reported, and how much was done before.
struct ProgressFrom {
  Progress so_far;
  const ProgressSink& sink;
};

// Runs an ingest: its own threads read chunks, TBB's threads process them, and one more thread
// writes them in order, so that slow storage does not block TBB's threads.
// Memory    data between reading and writing is limited by `gates` and by a number of chunks
// check     called before each input; may throw
// Progress  starts at progress.so_far
// Errors    the first exception, in the order of chunks
StageTimes run_chunks(const RunPlan& plan, const ChunkMaker& maker, Gates& gates, ShardSink& sink,
                      const ProgressFrom& progress, const std::function<void()>& check);

}  // namespace winnow::pipeline
