#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/model/model.h"
#include "train/optim/clip.h"
#include "train/plan/execution.h"
#include "train/reduce/gradient_sum.h"
#include "train/step/exchanger.h"
#include "train/step/exposed.h"
#include "train/step/lane.h"
#include "train/step/loss_scale.h"
#include "train/step/not_finite.h"
#include "train/step/relay.h"
#include "train/step/stage_gradients.h"
#include "train/step/step_marks.h"
#include "train/step/task_runner.h"
#include "train/step/trace_recorder.h"

namespace winnow::train {

// Results of one local head (auxiliary classifier of a stage) in a step.
struct HeadScore {
  double loss = 0;  // sum of weight * loss over the samples
  double correct = 0;
};

struct StepResult {
  Score score;  // results of the whole global batch, before the update of the weights
  // Results of the local heads (auxiliary classifiers), in the order of the stages.
  std::vector<HeadScore> heads{};
  bool stop = false;  // some rank asked to stop after this step
  // Number of times the step was computed again after an overflow, see fixed_point.h, loss_scale.h.
  int repeats = 0;
  ExposedSeconds exposed{};
  // Seconds of waiting for statistics of other ranks' micro-batches, see Exchanger.
  double exchange_wait = 0;
};

// Executes the steps of a run according to its plan: each call is one synchronous data-parallel
// step.
// Owns   Gradient buffers, lanes (replicas of the program) and their threads. Everything else
//        belongs to the caller.
// Ranks  Parameters are equal on all ranks before and after a step.
class StepExecutor {
 public:
  // programs  One for each lane (program replica) of `execution`, already bound to `weights`.
  // weights   Those of `model`.
  // clip      Applied to a step's gradients after their sum over micro-batches and ranks.
  StepExecutor(const std::vector<std::unique_ptr<Program>>& programs, const Model& model,
               WeightStore& weights, comm::Communicator& comm, Execution execution,
               const GradientClip& clip = {});

  // Takes step `step`, counted from 0, with learning rate `lr`. Collective.
  // batch         This rank's part of the global batch. Not used after the call, or after an error.
  // total_weight  Sum of the sample weights of the global batch, over all ranks.
  // stop          This rank wants to stop after the step.
  // goes_on       Step `step` + 1 will follow. In a pipeline its values may arrive during this one.
  // Throws        NotFiniteError: sums are not finite; parameters are unchanged, as is the scale.
  StepResult run(pipeline::Batch& batch, double total_weight, double lr, std::int64_t step,
                 bool stop, bool goes_on = false);

  // L2 norm of all gradients of the last step together, after --clip-grad-value and before
  // --clip-grad-norm. Equal on all ranks. Computed here, unless clipping already did.
  double gradient_norm() const;

  // Seed of the net's random numbers (dropout), which also depend on step and sample; 0 by default.
  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }
  StepMarks& marks() noexcept { return marks_; }  // where the progress of a step is recorded

  // Sets the trace recorder (not owned; nullptr, the default: none). Does not affect results.
  void set_trace(TraceRecorder* trace) noexcept;

  // Sets the loss scales: one for all stages of the net, or one each; 1 by default. Between steps.
  void set_loss_scales(std::vector<LossScale> scales) { gradients_.set_scales(std::move(scales)); }
  const std::vector<LossScale>& loss_scales() const noexcept { return gradients_.scales(); }
  void set_loss_scale(const LossScale& scale) { set_loss_scales({scale}); }
  const LossScale& loss_scale() const noexcept { return loss_scales().back(); }  // the last stage's

  const Execution& execution() const noexcept { return execution_; }

  // State that a checkpoint keeps, or drops, besides the loss scales: see GradientSum.
  std::map<std::string, std::int32_t> state() const { return sum_->state(); }
  void forget_errors() noexcept { sum_->forget_errors(); }
  void restore(const std::map<std::string, std::int32_t>& state) { sum_->restore(state); }

 private:
  struct Inputs {
    pipeline::Batch& batch;
    double total_weight;
    double lr;
    std::int64_t step;
    bool stop;
  };

  void execute(const Task& task, const Inputs& inputs);
  void perform(const Task& task, const Inputs& inputs);
  void await(const Task& task, const Inputs& inputs);
  void add(const Task& task);
  void finish();
  void read(const Task& task);
  void begin_update(const Inputs& inputs);
  void update(const Task& task);
  NotFiniteFindings find_not_finite() const;

  const Graph& graph_;
  WeightStore& weights_;
  const Execution execution_;
  std::uint64_t seed_ = 0;
  StepMarks marks_;
  TraceRecorder* trace_ = nullptr;
  StageGradients gradients_;
  std::unique_ptr<GradientSum> sum_;
  std::vector<StepLane> lanes_;
  Exchanger exchanger_;
  Relay relay_;
  std::vector<std::vector<WeightUpdate>> updates_;  // for each bucket, the updates of its tensors
  const GradientClip clip_;
  std::optional<double> unclipped_norm_{};                      // norm of the last step's gradients
  GradientSum::Outcome outcome_ = GradientSum::Outcome::kDone;  // result of the last task kFinish
  ExposedWatch exposed_;
  std::atomic<bool> finite_ = true;  // whether all tasks kRead of this step found finite sums
  TaskRunner runner_;                // the last member, because its threads use all the others
};

}  // namespace winnow::train
