#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/session.h"
#include "train/run/options.h"
#include "train/run/train.h"

// What `winnow train --folds` does beside the runs themselves.
namespace winnow::app {

// Writes the selections of the folds into the cache: in each, one fold is val and the others are
// train. Folds are of what data.selection lets be trained on (dedup::folds_of), else of all
// images but test, where duplicates are what `winnow split` takes for such.
//
// Out      Their names, the same on all ranks. Equal options make equal selections.
// Kept     Another selection of such a name, as NAME.previous.
// Ranks    Collective; all share the search.
// Throws   UsageError: options that go with no folds, a folder of the run with other things in it;
//          SystemError: a cache that cannot be written to.
std::vector<std::string> make_fold_selections(const train::DataOptions& data,
                                              const train::LossOptions& loss,
                                              const train::RunOptions& run, std::uint32_t count,
                                              const Session& session);

// Trains and tells of one run.
using TrainOne = std::function<train::TrainResult(const train::TrainOptions& options)>;

// Trains a run for each of the selections, RUN/fold-1 and so on, has it predict its val, and writes
// RUN/out-of-fold.* (train/run/evaluations/out_of_fold.h).
//
// options  Of the run as if it was one; with run.resume folds that are done are not done again.
// Ranks    Collective; rank 0 tells and, with `json`, prints the object of the schema train_folds.
// Throws   As train() and evaluate_run(); StoppedError.
void train_folds(const train::TrainOptions& options, const std::vector<std::string>& selections,
                 const TrainOne& train_one, bool json, Session& session);

}  // namespace winnow::app
