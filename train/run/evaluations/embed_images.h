#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/sample.h"
#include "common/thread_plan.h"
#include "pipeline/load/dataset.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

class Backend;

struct EmbedOptions {
  std::filesystem::path source;   // a run's folder, or a safetensors file with torchvision's names
  CheckpointChoice checkpoint{};  // checkpoint of the run to use
  FileNetOptions file;
  std::filesystem::path cache;
  pipeline::Placement placement;  // location of the cache's shards
  std::string backend = "onednn";
  DType dtype = DType::kF32;  // type of activations
  ThreadPlan threads;
};

// Where features come from.
struct Embedded {
  std::string net;         // "resnet18", or the name of its file
  std::string checkpoint;  // only for runs, such as "step-400"
  bool ema = false;        // uses its moving averages
  std::string digest;      // XXH3-128 of the weights in hex
  std::uint64_t images = 0;
  double images_per_second = 0;
};

// Receives the features of an image. Called in ascending order of ids, by one thread at a time.
using TakeFeatures = std::function<void(SampleId id, std::span<const float> vector)>;

// Computes the features (for_features()) of every image of a cache, in any split. The net sees the
// images as in evaluate_run(). For one rank.
//
// In      The net's classes may differ from the cache's, or the cache may have none.
// Result  The same bits for any number of threads: on a CPU each micro-batch has one.
// note    Sink for user-facing messages about damaged checkpoints that were skipped.
// Throws  UsageError as evaluate_run(), and for a net that does not end in a fully connected layer.
Embedded embed_images(const EmbedOptions& options, comm::Communicator& comm,
                      const TakeFeatures& take, const ProgressSink& progress,
                      const std::function<void(std::string)>& note);

}  // namespace winnow::train
