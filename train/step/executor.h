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
#include "train/step/stage_gradients.h"
#include "train/step/step_marks.h"
#include "train/step/task_runner.h"
#include "train/step/trace_recorder.h"

namespace winnow::train {

// What a local head says of a step.
struct HeadScore {
  double loss = 0;  // as Score has them
  double correct = 0;
};

struct StepResult {
  Score score;                     // of the whole global batch, before the update
  std::vector<HeadScore> heads{};  // of local heads, in the order of their stages
  bool stop = false;               // some rank asked for it
  int repeats = 0;  // times the step was computed again, see fixed_point.h, loss_scale.h
  ExposedSeconds exposed{};
  double exchange_wait = 0;  // seconds that it waited for others' micro-batches, see Exchanger
};

// Executes the steps of a run as its plan has them: one synchronous data-parallel step a call.
// Owns     gradient buffers, lanes and their threads. The rest is the caller's.
// Ranks    Parameters are equal on all ranks before and after a step.
class StepExecutor {
 public:
  // In  `programs`: one for each lane of `execution`, all of one differentiated graph, which
  //     `execution` was planned for, already bound to `weights`, which are those of `model`
  //     `clip`: of the gradients of a step, summed over micro-batches and ranks
  StepExecutor(const std::vector<std::unique_ptr<Program>>& programs, const Model& model,
               WeightStore& weights, comm::Communicator& comm, Execution execution,
               const GradientClip& clip = {});

  // Takes step `step`, counted from 0, at learning rate `lr`. Collective.
  // In      `batch`: this rank's part of the global batch, whose sample weights add up to
  //         `total_weight` over all ranks; programs are done with it afterwards, whatever happened
  //         `stop`: this rank wants to stop after the step
  // Throws  NotFiniteError: something in the sums is not finite; the parameters are still those of
  //         the step before, and so is the loss scale
  StepResult run(pipeline::Batch& batch, double total_weight, double lr, std::int64_t step,
                 bool stop);

  // The L2 norm of the last step's gradients, all together, before --clip-grad-norm and after
  // --clip-grad-value. Goes through all of them unless they were clipped by it. Equal on all ranks.
  double gradient_norm() const;

  // What random numbers of the net (dropout) follow from, besides step and sample; 0 at first.
  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }
  StepMarks& marks() noexcept { return marks_; }  // where it marks how far a step is

  // Who writes down what it does in traced steps; it outlives this. Null: nobody, as at first. No
  // bit of a result depends on it.
  void set_trace(TraceRecorder* trace) noexcept;

  // Between steps. None is scaled at first. One for all stages of the net, or each its own.
  void set_loss_scales(std::vector<LossScale> scales) { gradients_.set_scales(std::move(scales)); }
  const std::vector<LossScale>& loss_scales() const noexcept { return gradients_.scales(); }
  void set_loss_scale(const LossScale& scale) { set_loss_scales({scale}); }
  const LossScale& loss_scale() const noexcept { return loss_scales().back(); }  // the last stage's

  const Execution& execution() const noexcept { return execution_; }

  // What a checkpoint has to keep besides the loss scale, and what it does not keep: see
  // GradientSum.
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
  std::vector<std::vector<WeightUpdate>> updates_;  // of each bucket
  const GradientClip clip_;
  std::optional<double> unclipped_norm_{};                      // of the last step's gradients
  GradientSum::Outcome outcome_ = GradientSum::Outcome::kDone;  // of the last kFinish
  ExposedWatch exposed_;
  std::atomic<bool> finite_ = true;  // of all kRead since then
  TaskRunner runner_;                // last: its threads use all of the above
};

}  // namespace winnow::train
