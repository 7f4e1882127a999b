#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "train/plan/rank_stages.h"
#include "train/run/record/run_state.h"
#include "train/step/executor.h"
#include "train/step/not_finite.h"

namespace winnow::train {

// A step that all stages have taken.
struct KnownStep {
  std::int64_t number = 0;  // counted from 1
  StepResult result{};
  // Empty: all numbers are finite. Else the findings of this rank's stage, or, if only another
  // stage has such numbers, no more than the name of the tensor.
  std::optional<NotFiniteFindings> not_finite{};
};

// Messages between the stages of a pipeline, so that every rank knows the whole run. Does nothing
// without a pipeline. All calls are collective.
//
// Ahead   Earlier stages work on later steps. A rank learns of a step when it has taken a number of
//         further ones, the same on all ranks.
// Meeting A point between two steps where all ranks have taken the same ones and know them all.
//         Values of the step after it are not on their way. Only there a run may end or go on with
//         other collectives. Without a pipeline, after every step.
class StagesTogether {
 public:
  // `ranks` and `comm` must outlive this object.
  StagesTogether(const RankStages& ranks, comm::Communicator& comm);

  // Whether the next step must be followed by a meeting: there is no pipeline, or a step is known
  // after which the run ends.
  bool must_meet() const { return !ranks_.is_pipeline() || ends_; }

  // Takes step `number` of this rank's stage, by calling `step`, and starts to tell the others.
  // Out  The result of this rank's stage.
  StepResult take(std::int64_t number, const std::function<StepResult()>& step);

  // The next step that is known, in order; at a meeting every step. In a pipeline `result` is that
  // of the whole net: `score` is the last stage's, `heads` has the scores of the local heads
  // (auxiliary classifiers) of the stages before it. Waits for other ranks.
  // Out  nullopt: no further one. A step that is not finite comes at a meeting only.
  std::optional<KnownStep> next_known(bool meets);

  // Copies the state of each stage's gradient sums, and its loss scale, from the first rank of the
  // stage to all ranks.
  void gather(RunState& state);

  // Returns the norm over the tensors of all stages. `own`: the norm over those of this stage.
  double norm(double own);

  // Whether this rank sends the data of its stage to the others.
  bool is_first() const { return ranks_.first_rank(stage_) == comm_.rank(); }

 private:
  // A step that this rank has taken.
  struct Taken {
    KnownStep step{};
    std::vector<double> told{};  // numbers of each stage
    comm::Pending pending{};     // the sum of `told`
  };

  void tell(Taken& taken);
  bool ends_run(const Taken& taken) const;
  KnownStep known(Taken taken);

  const RankStages& ranks_;
  comm::Communicator& comm_;
  const int stage_;          // stage of this rank, from 0
  std::deque<Taken> taken_;  // steps that are not known yet
  bool ends_ = false;
};

}  // namespace winnow::train
