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
  // A run's folder, or a safetensors file with torchvision's tensor names.
  std::filesystem::path source;
  CheckpointChoice checkpoint{};  // which checkpoint to use if `source` is a run
  FileNetOptions file;
  std::filesystem::path cache;
  pipeline::Placement placement;  // location of the cache's shards
  std::string backend = "onednn";
  DType dtype = DType::kF32;  // type in which activations are stored
  ThreadPlan threads;
};

// The net that computed features, and how many images it took.
struct Embedded {
  std::string net;  // name of the net ("resnet18"), or of the file that describes it
  // Name of the checkpoint ("step-400"); empty: `source` was a file of weights.
  std::string checkpoint;
  bool ema = false;    // the moving averages of the weights were used
  std::string digest;  // XXH3-128 of the weights, in hex
  std::uint64_t images = 0;
  double images_per_second = 0;
};

// Callback that receives the features of one image. It is called in ascending order of ids, by one
// thread at a time.
using TakeFeatures = std::function<void(SampleId id, std::span<const float> vector)>;

// Computes the features (for_features()) of every image of a cache, in any split.
//
// In      Images are prepared as in evaluate_run(). The cache may have other classes than the net,
//         or none.
// Out     The same bits for any number of threads: on a CPU, one thread computes each micro-batch.
// Ranks   Runs on one rank only.
// note    Sink for user-facing messages about damaged checkpoints that were skipped.
// Throws  UsageError as evaluate_run(), and for a net that does not end in a fully connected layer.
Embedded embed_images(const EmbedOptions& options, comm::Communicator& comm,
                      const TakeFeatures& take, const ProgressSink& progress,
                      const std::function<void(std::string)>& note);

}  // namespace winnow::train
