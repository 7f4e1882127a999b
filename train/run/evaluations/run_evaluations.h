#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "train/run/evaluations/split_score.h"
#include "train/run/log/run_log.h"
#include "train/run/options.h"
#include "train/run/record/best.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Runs the evaluations during and after training: decides when one is due, logs its results, and
// records which was the best.
// The last evaluation is stored as RUN/evaluation.json. If the run keeps a moving average of the
// weights, the average is evaluated too.
// Lifetime  The constructor's arguments must outlive this object.
class RunEvaluations {
 public:
  // `threads`: number of decoding threads.
  RunEvaluations(const Job& job, const RunOptions& run, int threads, Engine& engine,
                 comm::Communicator& comm, RunLog& log)
      : job_(job), run_(run), threads_(threads), engine_(engine), comm_(comm), log_(log) {}

  // Whether the val split must be evaluated after `done` steps. `ends_epoch`: step `done` ends an
  // epoch.
  bool is_due(std::int64_t done, bool ends_epoch) const;

  // Evaluates the val split if that is due. If the run keeps its best checkpoint, also records the
  // result in `best`.
  // Out         Whether this evaluation is the best so far.
  // Collective  No loader may prepare batches meanwhile.
  bool evaluate_due(std::int64_t step, std::optional<BestEvaluation>& best);

  // Evaluates at the end of a run: the val split, unless it was just evaluated, and then the test
  // split.
  // Collective  No loader may prepare batches meanwhile.
  void evaluate_end(std::int64_t step);

  // The accuracy measured by the last evaluation; nullopt before the first.
  const std::optional<SplitScore>& score() const noexcept { return score_; }

 private:
  using Figures = std::map<std::string, double>;
  void evaluate(Split split, std::int64_t step);
  Figures log(const Evaluation& evaluation, const std::string& name, std::int64_t step);
  void store(const Evaluation& evaluation, Split split, std::int64_t step);

  const Job& job_;
  const RunOptions& run_;
  int threads_;
  Engine& engine_;
  comm::Communicator& comm_;
  RunLog& log_;
  Figures figures_;             // results of the last evaluation
  std::int64_t val_step_ = -1;  // training step of the last evaluation on val; -1: none yet
  std::optional<SplitScore> score_;
};

}  // namespace winnow::train
