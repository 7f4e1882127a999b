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
  CheckpointChoice checkpoint{};  // of the run
  FileNetOptions file;
  std::filesystem::path cache;
  pipeline::Placement placement;  // of its shards
  std::string backend = "onednn";
  DType dtype = DType::kF32;  // of activations
  ThreadPlan threads;
};

// Where features came from.
struct Embedded {
  std::string net;         // "resnet18", or the name of its file
  std::string checkpoint;  // of a run: "step-400"
  bool ema = false;        // its moving averages
  std::string digest;      // XXH3-128 of the weights, hex
  std::uint64_t images = 0;
  double images_per_second = 0;
};

// Takes the vector of an image. In ascending id order, from one thread at a time.
using TakeFeatures = std::function<void(SampleId id, std::span<const float> vector)>;

// Computes the features (for_features()) of every image of a cache, whatever its split, as
// evaluate_run() would show them to the net. One rank.
//
// In      The net's classifier may be of other classes than the cache's, or the cache without any.
// Result  The same bits for any number of threads: of a processor, each micro-batch has one.
// note    Takes sentences for people: damaged checkpoints that were passed over.
// Throws  UsageError as evaluate_run(), and for a net that does not end in a fully connected layer.
Embedded embed_images(const EmbedOptions& options, comm::Communicator& comm,
                      const TakeFeatures& take, const ProgressSink& progress,
                      const std::function<void(std::string)>& note);

}  // namespace winnow::train
