#pragma once

#include "app/train/train_choice.h"
#include "pipeline/load/partial_shuffle.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/options.h"

namespace winnow::tools {

// Adds --shuffle-fraction and --partitions to a verb. `options` must outlive the parsing.
void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options);

// Adds the options that say what is trained and how, for all verbs that train, or plan a training:
// groups "Data", "Start", "Recipe" and "Execution", and options before them. `flags` must outlive
// the parsing. Returns the group "Data", to which the verb can add options of its own.
Verb add_train_flags(Verb verb, TrainChoice& flags);

// Adds options for length and interruptions of a run: --max-steps, checkpoints, evaluations.
void add_pause_flags(Verb group, train::RunOptions& run);

}  // namespace winnow::tools
