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
#include "train/backend/weights.h"
#include "train/model/model.h"
#include "train/plan/step_plan.h"
#include "train/reduce/gradient_layout.h"
#include "train/reduce/gradient_sum.h"
#include "train/step/feed.h"
#include "train/step/not_finite.h"
#include "train/step/task_runner.h"

namespace winnow::train {

struct StepOptions {
  std::size_t bucket_bytes = 1u << 20;
  bool reproducible = false;  // sums that no order can change
  bool asynchronous = false;  // programs that are not on the CPU, see Backend::is_on_cpu()
  SumOptions sum;
};

struct StepResult {
  Score score;        // of the whole global batch
  bool stop = false;  // some rank asked for it
  int repeats = 0;    // times the step was computed again, see fixed_point.h
  double exposed_comm_seconds = 0;
};

// Executes a step plan: one synchronous data-parallel step a call. Parameters are equal on all
// ranks before and after. Owns the gradient buffers and the lanes' threads; programs, weights and
// communicator are the caller's.
class StepExecutor {
 public:
  // One program a lane, all of one differentiated graph, already bound to `weights`, which are
  // those of `model`.
  StepExecutor(const std::vector<std::unique_ptr<Program>>& programs, const Model& model,
               WeightStore& weights, comm::Communicator& comm, StepOptions options);

  // Collective: every rank calls it with its own part of the global batch, whose sample weights add
  // up to `total_weight` over all ranks, and whether it wants to `stop` after it. `step` counts
  // from 0. Throws NotFiniteError when something in the sums is not finite; parameters are then
  // still those of the step before. Programs are done with `batch` afterwards, whatever happened.
  StepResult run(pipeline::Batch& batch, double total_weight, double lr, std::int64_t step,
                 bool stop);

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
    std::vector<int> micro_batches{};    // of the rank's
    std::size_t given = 0;               // nodes [0, given) of the micro-batch to the program
    bool loss_is_finite = true;          // of its micro-batches of the step
    std::vector<SampleId> not_finite{};  // samples of the step whose loss is not
  };
  struct Inputs {
    pipeline::Batch& batch;
    double total_weight;
    double lr;
    std::int64_t step;
    bool stop;
  };

  void execute(const Task& task, const Inputs& inputs);
  void add(const Task& task, const Inputs& inputs);
  void finish(const Inputs& inputs);
  static void note_not_finite(const pipeline::Batch& batch, std::size_t m, Lane& lane);
  NotFiniteFindings find_not_finite() const;
  void settle() noexcept;

  const Graph& graph_;
  WeightStore& weights_;
  comm::Communicator& comm_;
  StepOptions options_;
  GradientLayout layout_;
  std::unique_ptr<GradientSum> sum_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<WeightUpdate>> updates_;              // of each bucket
  GradientSum::Outcome outcome_ = GradientSum::Outcome::kDone;  // of the last kFinish
  double exposed_seconds_ = 0;                                  // likewise
  TaskRunner runner_;  // last: its threads use all of the above
};

}  // namespace winnow::train
