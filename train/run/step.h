#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/optim/optimizer.h"
#include "train/run/feed.h"
#include "train/run/gradients.h"
#include "train/run/model.h"
#include "train/run/step_plan.h"

namespace winnow::train {

struct StepOptions {
  const Optimizer* optimizer = nullptr;
  OptimizerOptions optimizer_options;
  const comm::Schedule* schedule = nullptr;
  comm::ScheduleOptions schedule_options;
  std::size_t bucket_bytes = 1u << 20;
  int micro_batches = 1;        // of this rank
  int total_micro_batches = 1;  // of all ranks
};

struct StepResult {
  Score score;  // of the whole global batch
  double exposed_comm_seconds = 0;
};

// Executes a step plan: one synchronous data-parallel step a call. Parameters are equal on all
// ranks before and after. Owns the gradient buffers; program, model and communicator are the
// caller's.
class StepExecutor {
 public:
  // `program` is a differentiated graph, already bound to `model`.
  StepExecutor(Program& program, Model& model, comm::Communicator& comm, StepOptions options);

  // Collective: every rank calls it with its own part of the global batch, whose sample weights add
  // up to `total_weight` over all ranks. Throws Error when the loss is not finite; parameters are
  // then still those of the step before.
  StepResult run(pipeline::Batch& batch, double total_weight, double lr);

  const StepPlan& plan() const noexcept { return plan_; }
  const GradientLayout& layout() const noexcept { return layout_; }

 private:
  void update(const GradientLayout::Bucket& bucket, double lr);
  void update_statistic(const GradientLayout::Slot& slot, Model::Tensor& tensor) const;

  Program& program_;
  Model& model_;
  comm::Communicator& comm_;
  StepOptions options_;
  GradientLayout layout_;
  StepPlan plan_;
  Feed feed_;
  std::vector<float> loss_;
  std::vector<float> per_sample_;
  std::vector<float> logits_;
  std::vector<float> micro_;  // what the program writes; empty when it writes sum_ itself
  std::vector<float> sum_;    // over this rank's micro-batches, then over all
  std::vector<Model::Tensor*> tensor_of_slot_;
};

}  // namespace winnow::train
