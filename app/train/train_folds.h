#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/session.h"
#include "train/run/options.h"
#include "train/run/train.h"

// The parts of `winnow train --folds` besides the runs themselves.
namespace winnow::app {

// Writes the selections of the folds into the cache: in each, one fold is val and the others are
// train.
//
// Of       what data.selection trains on (dedup::folds_of); without one, all images except test,
//          grouped by the duplicates that `winnow split` uses
// Out      names of the selections, the same on all ranks; equal options make equal selections
// Exists   another selection with such a name is kept as NAME.previous
// Ranks    collective; all share the search
// Throws   UsageError: options that do not go with folds, other content in the run's folder;
//          SystemError: a cache that cannot be written to
std::vector<std::string> make_fold_selections(const train::DataOptions& data,
                                              const train::LossOptions& loss,
                                              const train::RunOptions& run, std::uint32_t count,
                                              const Session& session);

// Trains one run and prints its results.
using TrainOne = std::function<train::TrainResult(const train::TrainOptions& options)>;

// Trains a run for each selection, RUN/fold-1 and so on. Each predicts its val; the predictions go
// to RUN/out-of-fold.* (train/run/evaluations/out_of_fold.h).
//
// options  Of the run as if it were one; with run.resume, finished folds are not trained again.
// Ranks    Collective; rank 0 prints sentences and, with `json`, the object of the schema
//          train_folds.
// Throws   As train() and evaluate_run(); StoppedError.
void train_folds(const train::TrainOptions& options, const std::vector<std::string>& selections,
                 const TrainOne& train_one, bool json, Session& session);

}  // namespace winnow::app
