#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/backend/reference/reference.h"
#include "train/model/model.h"
#include "train/nets/nets.h"
#include "train/optim/optimizer.h"
#include "train/plan/execution.h"
#include "train/rewrites/rewrites.h"
#include "train/step/executor.h"

// Training steps of small nets on synthetic batches, for tests.

namespace winnow::train {

// Grey images of 16 x 16 pixels in three classes.
inline NetOptions small_images(std::int64_t batch) {
  return {.batch = batch,
          .channels = 1,
          .height_px = 16,
          .width_px = 16,
          .classes = 3,
          .mean = {0.5F},
          .stddev = {0.25F},
          .loss = {}};
}

inline Graph training_graph(const char* net, std::int64_t batch) {
  return prune(differentiate(fuse(find_net(net).make(small_images(batch)))));
}

inline pipeline::Batch random_batch(const Graph& graph, std::size_t samples) {
  const Shape& shape = graph.value(graph.find("pixels")).shape;
  const auto per_sample = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  pipeline::Batch batch;
  batch.channels = static_cast<int>(shape[1]);
  batch.height_px = static_cast<int>(shape[2]);
  batch.width_px = static_cast<int>(shape[3]);
  batch.label_offsets.push_back(0);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < per_sample; ++k) {
      batch.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
    }
    batch.ids.push_back(i);
    batch.weights.push_back(i % 3 == 0 ? 0.5F : 1.0F);
    batch.labels.push_back(static_cast<std::int32_t>(rng.below(3)));
    batch.label_weights.push_back(1);
    batch.label_offsets.push_back(static_cast<std::uint32_t>(i + 1));
    batch.groups.push_back(0);
  }
  return batch;
}

inline double weight_of(const pipeline::Batch& batch) {
  double sum = 0;
  for (const float w : batch.weights) sum += w;
  return sum;
}

// The plan of a run of one rank, cut into these lanes and buckets.
inline RunPlan cut_into(std::vector<int> micro_batches, std::size_t bucket_bytes,
                        bool reproducible = false, int threads = 1) {
  RunPlan plan;
  plan.numerics.sums = reproducible ? Sums::kWholeNumbers : Sums::kFloats;
  plan.layout = {.ranks = {{.lanes = std::move(micro_batches), .threads = threads}},
                 .schedule = "multicolor",
                 .bucket_bytes = bucket_bytes};
  return plan;
}

inline std::int64_t micro_batches_of(const RunPlan& plan) {
  const std::vector<int>& lanes = plan.layout.ranks[0].lanes;
  return std::accumulate(lanes.begin(), lanes.end(), std::int64_t{0});
}

inline const UpdateRule kPlainSgd{&find_optimizer("sgd"),
                                  {{"momentum", {0}}, {"weight_decay", {0}}, {"nesterov", {0}}}};

using MakeBackend = std::function<std::unique_ptr<Backend>()>;
inline std::unique_ptr<Backend> reference() { return make_reference_backend(); }

// A net that can take steps. The default backend is the float64 reference.
struct Learner {
  Learner(const Graph& graph, const RunPlan& plan, const MakeBackend& make = reference)
      : Learner(graph, make_model(graph, 7), plan, make) {}

  // `world` is the communicator of all ranks of the plan; null: a single rank.
  Learner(const Graph& graph, Model start, const RunPlan& plan, const MakeBackend& make = reference,
          const GradientClip& clip = {}, comm::Communicator* world = nullptr)
      : comm(world == nullptr ? *single : *world),
        backend(make()),
        model(std::move(start)),
        weights(place_weights(*backend, model, kPlainSgd)) {
    Execution execution = plan_execution(plan, graph, comm.placement(), !backend->is_on_cpu());
    programs = backend->compile_lanes(graph, {.compute = plan.numerics.dtype},
                                      static_cast<int>(execution.micro_batches.size()));
    for (const auto& program : programs) weights->bind(*program);
    weights->load();
    executor =
        std::make_unique<StepExecutor>(programs, model, *weights, comm, std::move(execution), clip);
  }

  StepResult step(pipeline::Batch& batch, double lr = 0.1, bool stop = false) {
    return executor->run(batch, weight_of(batch), lr, steps++, stop);
  }

  std::unique_ptr<comm::Communicator> single = comm::make_single();
  comm::Communicator& comm;
  std::unique_ptr<Backend> backend;
  Model model;
  std::unique_ptr<WeightStore> weights;
  std::vector<std::unique_ptr<Program>> programs;
  std::unique_ptr<StepExecutor> executor;
  std::int64_t steps = 0;
};

}  // namespace winnow::train
