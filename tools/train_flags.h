#pragma once

#include "app/train/train_choice.h"
#include "pipeline/load/partial_shuffle.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/options.h"

namespace winnow::tools {

// --shuffle-fraction and --partitions, into `options`, which must outlive the parsing.
void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options);

// The flags that say what is trained and how, for all verbs that train or plan a training: the
// groups "Data", "Start", "Recipe" and "Execution", and flags before them. `flags` must outlive the
// parsing.
// Out  the group "Data", for flags of the verb's own
Verb add_train_flags(Verb verb, TrainChoice& flags);

// Length and interruptions of a run: --max-steps, checkpoints, evaluations.
void add_pause_flags(Verb group, train::RunOptions& run);

}  // namespace winnow::tools
