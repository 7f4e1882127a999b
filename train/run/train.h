#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/health/board.h"
#include "common/progress.h"
#include "train/run/evaluations/split_score.h"
#include "train/run/options.h"
#include "train/run/record/best.h"
#include "train/step/exposed.h"

namespace winnow::train {

class Backend;

// Speed of the steps since the process started or resumed the run.
struct StepSpeed {
  double images_per_second = 0;  // speed of all ranks together, without evaluation and checkpoints
  double data_wait_seconds = 0;
  ExposedSeconds exposed{};
  int repeated_steps = 0;  // steps computed again after an overflow, see StepResult::repeats
};

// Results of a training run. Equal on all ranks.
struct TrainResult {
  double epoch = 0;
  std::int64_t steps = 0;
  double train_loss = 0;  // mean loss over the steps of the last epoch
  // Accuracy of the last evaluation; nullopt if there is nothing to evaluate on.
  std::optional<SplitScore> score;
  // Best evaluation; only for runs that keep the best checkpoint.
  std::optional<BestEvaluation> best;
  StepSpeed speed;
};

// Trains a net on a cache and evaluates it.
//
// Out         In options.run.out: a line of metrics every log.interval steps; a checkpoint after
//             every epoch, every checkpoints.interval steps, when asked to stop, and for the best
//             evaluation if that is kept.
// Evaluation  val: after every epoch, or every evaluation.interval steps. test: once, at the end;
//             skipped with a hold-out, because model selection must not see the test set.
// Early stop  After evaluation.patience evaluations without improvement.
// Collective  For any number of ranks the global batches are equal; with
//             options.execution.reproducible, so is every bit of the weights.
// note        Sink for user-facing messages.
// board       Where this rank marks its activity; may be nullptr.
// backend     The backend that options.execution.backend names; nullptr: it is created.
// Throws      UsageError: options that do not fit the data or each other. comm::AgreedError, exit
//             code 75: stopped as asked, after a checkpoint. Error: the loss is not finite, or
//             ranks differ.
TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note,
                  health::Board* board = nullptr, Backend* backend = nullptr);

}  // namespace winnow::train
