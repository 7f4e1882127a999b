#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/optim/optimizer.h"
#include "train/run/feed.h"
#include "train/run/gradient_sum.h"
#include "train/run/gradients.h"
#include "train/run/model.h"
#include "train/run/step_plan.h"
#include "train/run/task_runner.h"

namespace winnow::train {

struct StepOptions {
  const Optimizer* optimizer = nullptr;
  OptimizerOptions optimizer_options;
  std::size_t bucket_bytes = 1u << 20;
  bool reproducible = false;  // sums that no order can change
  SumOptions sum;
};

struct StepResult {
  Score score;        // of the whole global batch
  bool stop = false;  // some rank asked for it
  int repeats = 0;    // times the step was computed again, see fixed_point.h
  double exposed_comm_seconds = 0;
};

// Executes a step plan: one synchronous data-parallel step a call. Parameters are equal on all
// ranks before and after. Owns the gradient buffers and the lanes' threads; programs, model and
// communicator are the caller's.
class StepExecutor {
 public:
  // One program a lane, all of one differentiated graph, already bound to `model`.
  StepExecutor(const std::vector<std::unique_ptr<Program>>& programs, Model& model,
               comm::Communicator& comm, StepOptions options);

  // Collective: every rank calls it with its own part of the global batch, whose sample weights add
  // up to `total_weight` over all ranks, and whether it wants to `stop` after it. Throws
  // AgreedError when something in the sums is not finite; parameters are then still those of the
  // step before.
  StepResult run(pipeline::Batch& batch, double total_weight, double lr, bool stop);

  const StepPlan& plan() const noexcept { return runner_.plan(); }
  const GradientLayout& layout() const noexcept { return layout_; }

  // What a checkpoint has to keep, see GradientSum.
  std::map<std::string, std::int32_t> state() const { return sum_->state(); }
  void restore(const std::map<std::string, std::int32_t>& state) { sum_->restore(state); }

 private:
  struct Lane {
    explicit Lane(Program& program_of_lane);
    Program& program;
    Feed feed;
    std::vector<float> loss;
    std::vector<float> per_sample;
    std::vector<float> logits;
    std::vector<int> micro_batches{};  // of the rank's
  };
  struct Inputs {
    pipeline::Batch& batch;
    double total_weight;
    double lr;
    bool stop;
  };

  void execute(const Task& task, const Inputs& inputs);
  void compute(const Task& task, const Inputs& inputs);
  void update(std::size_t bucket, double lr);
  void update_statistic(const GradientLayout::Slot& slot, Model::Tensor& tensor) const;

  const Graph& graph_;
  Model& model_;
  comm::Communicator& comm_;
  StepOptions options_;
  GradientLayout layout_;
  std::unique_ptr<GradientSum> sum_;
  std::vector<Lane> lanes_;
  std::vector<Model::Tensor*> tensor_of_slot_;
  GradientSum::Outcome outcome_ = GradientSum::Outcome::kDone;  // of the last kFinish
  double exposed_seconds_ = 0;                                  // likewise
  TaskRunner runner_;  // last: its threads use all of the above
};

}  // namespace winnow::train
