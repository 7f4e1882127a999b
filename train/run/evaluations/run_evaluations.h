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

// The evaluations of a run: when they are due, what is written of them, which was the best. The
// last one is kept as RUN/evaluation.json. Where there is a moving average of the weights it is
// evaluated beside them. The others outlive it.
class RunEvaluations {
 public:
  // `threads` decode.
  RunEvaluations(const Job& job, const RunOptions& run, int threads, Engine& engine,
                 comm::Communicator& comm, RunLog& log)
      : job_(job), run_(run), threads_(threads), engine_(engine), comm_(comm), log_(log) {}

  // Whether val is to be evaluated after `done` steps, of which the last `ends_epoch` or does not.
  bool is_due(std::int64_t done, bool ends_epoch) const;

  // Evaluates val where it is due, and enters it into `best` if one is to be kept. True: it is the
  // best so far. Collective; no loader prepares batches meanwhile.
  bool evaluate_due(std::int64_t step, std::optional<BestEvaluation>& best);

  // At the end of a run: val unless that was just done, then test. Collective, likewise.
  void evaluate_end(std::int64_t step);

  // Of the last one.
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
  Figures figures_;             // of the last one
  std::int64_t val_step_ = -1;  // of the last one on val
  std::optional<SplitScore> score_;
};

}  // namespace winnow::train
