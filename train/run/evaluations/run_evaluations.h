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

// The evaluations of a run: when they are due, what is logged, and which was the best. The last one
// is stored as RUN/evaluation.json. If there is a moving average of the weights, it is evaluated,
// too.
// The constructor's arguments must outlive this.
class RunEvaluations {
 public:
  // `threads`: number of decoding threads.
  RunEvaluations(const Job& job, const RunOptions& run, int threads, Engine& engine,
                 comm::Communicator& comm, RunLog& log)
      : job_(job), run_(run), threads_(threads), engine_(engine), comm_(comm), log_(log) {}

  // Whether val must be evaluated after `done` steps. `ends_epoch`: the last step ends an epoch.
  bool is_due(std::int64_t done, bool ends_epoch) const;

  // Evaluates val if it is due, and records it in `best` if the best checkpoint is kept. Returns
  // whether it is the best so far. Collective; no loader may prepare batches meanwhile.
  bool evaluate_due(std::int64_t step, std::optional<BestEvaluation>& best);

  // At the end of a run: evaluates val, unless that was just done, and then test. Collective; no
  // loader may prepare batches meanwhile.
  void evaluate_end(std::int64_t step);

  // The score of the last evaluation.
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
  std::int64_t val_step_ = -1;  // step of the last evaluation on val
  std::optional<SplitScore> score_;
};

}  // namespace winnow::train
