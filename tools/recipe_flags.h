#pragma once

#include "tools/flags/flags.h"
#include "train/run/options.h"

namespace winnow::tools {

// Flags made from the tables of train/optim. `recipe` must live as long as `verb`.

// --optimizer, the options of all optimisers and those that go with every one.
void add_optimizer_flags(Verb verb, train::RecipeOptions& recipe);
// --sched, the options of all learning-rate schedules and those that go with every one.
void add_lr_schedule_flags(Verb verb, train::RecipeOptions& recipe);

}  // namespace winnow::tools
