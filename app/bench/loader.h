#pragma once

#include <filesystem>
#include <string>

#include "app/load/load_shards.h"
#include "app/session.h"
#include "pipeline/load/partial_shuffle.h"
#include "pipeline/load/stages.h"

namespace winnow::app {

// The batches to load in the benchmark of the loader.
struct LoadedBatches {
  std::filesystem::path cache;
  std::string augment = "cifar";
  int image_side_px = 0;
  std::uint64_t batch = 128;
  int threads = 0;
  pipeline::ShuffleOptions shuffle;
  MemoryOptions memory;
};

struct LoaderBenchRequest {
  LoadedBatches load;
  double seconds = 5;
  int rounds = 3;
  bool json = false;
};

// Measures how fast batches are loaded. Collective.
void bench_loader(const LoaderBenchRequest& request, Session& session);

}  // namespace winnow::app
