#pragma once

#include "app/train/train_choice.h"
#include "pipeline/load/partial_shuffle.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/options.h"

namespace winnow::tools {

// --shuffle-fraction and --partitions, into `options`, which must outlive the parsing.
void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options);

// The flags that say what is trained and how, of all verbs that train or plan a training: the
// groups "Data", "Start", "Recipe" and "Execution", and what is before them. `flags` outlives the
// parsing. Out  the group "Data", for flags of the verb's own
Verb add_train_flags(Verb verb, TrainChoice& flags);

// How long a run is, and what interrupts it: --max-steps, checkpoints, evaluations.
void add_pause_flags(Verb group, train::RunOptions& run);

}  // namespace winnow::tools
