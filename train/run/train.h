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

// How fast the steps of this start of a run were.
struct StepSpeed {
  double images_per_second = 0;  // evaluation and checkpoints left out
  double data_wait_seconds = 0;
  ExposedSeconds exposed{};
  int repeated_steps = 0;  // see StepResult::repeats
};

// Results of a training run. Equal on all ranks.
struct TrainResult {
  double epoch = 0;
  std::int64_t steps = 0;
  double train_loss = 0;               // mean over the last epoch's steps
  std::optional<SplitScore> score;     // none where there is nothing to evaluate on
  std::optional<BestEvaluation> best;  // of runs that keep the best checkpoint
  StepSpeed speed;
};

// Trains a net on a cache and evaluates it.
//
// Out          options.run.out: a line of metrics every log.interval steps; a checkpoint after
//              every epoch, every checkpoints.interval steps, when asked to stop, and of the best
//              evaluation if that is to be kept.
// Evaluation   val: after every epoch, or every evaluation.interval steps. test: once, at the end;
//              not at all with a hold-out, for who chooses by a hold-out shall not see test.
// Ends early   where evaluation.patience evaluations were no better than the best before them.
// Collective   Equal for any number of ranks: the global batches, and with options.execution
//              .reproducible every bit of the weights.
// note         Takes sentences for people.
// board        Where this rank marks what it does; null: nowhere.
// backend      The one that options.execution.backend names; null: it is made.
// Throws       UsageError: options that do not fit the data or each other.
//              comm::AgreedError, exit code 75: stopped as asked, after a checkpoint.
//              Error: the loss is not finite, or ranks differ.
TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note,
                  health::Board* board = nullptr, Backend* backend = nullptr);

}  // namespace winnow::train
