#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/session.h"
#include "train/run/options.h"
#include "train/run/train.h"

// The parts of `winnow train --folds` around the runs themselves.
namespace winnow::app {

// Writes a selection for each cross-validation fold into the cache: in it the fold is val, and the
// others are train.
//
// Samples  those that data.selection trains on (dedup::folds_of). Without a selection all images
//          except test, grouped by duplicates as by `winnow split`.
// Out      names of the selections, the same on all ranks; equal options give equal selections
// Exists   another selection of that name is renamed to NAME.previous
// Ranks    collective; all share the search for duplicates
// Throws   UsageError: options that folds exclude, or other content in the run's folder.
//          SystemError: the cache cannot be written to.
std::vector<std::string> make_fold_selections(const train::DataOptions& data,
                                              const train::LossOptions& loss,
                                              const train::RunOptions& run, std::uint32_t count,
                                              const Session& session);

// Trains one run and prints its results.
using TrainOne = std::function<train::TrainResult(const train::TrainOptions& options)>;

// Trains a run for each fold's selection, in RUN/fold-1 and so on. Each run predicts its val; all
// these predictions go to RUN/out-of-fold.* (train/run/evaluations/out_of_fold.h).
//
// options  Those of the whole command. With run.resume, finished folds are not trained again.
// Ranks    Collective. Rank 0 prints sentences and, with `json`, the object of schema train_folds.
// Throws   As train() and evaluate_run(); StoppedError.
void train_folds(const train::TrainOptions& options, const std::vector<std::string>& selections,
                 const TrainOne& train_one, bool json, Session& session);

}  // namespace winnow::app
