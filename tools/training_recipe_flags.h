#pragma once

#include "app/train/train_choice.h"
#include "common/comm/communicator.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --recipe and --show of `winnow train`, which has its other flags or gets them later. What the
// command line, the environment or a configuration file give stands before the recipe.
//
// --show    Prints size and cost of the net and the command, and ends the program.
// taken     Is filled when the command line is parsed, with a recipe that is named. It must outlive
//           `train`.
void add_training_recipe_flags(Verb train, TakenRecipe& taken);

// Where no recipe is named, gives `train`, whose words are parsed, the flags of own_recipe(), for
// the batch and the epochs that are given or the program's; none where another optimiser is given
// than its. A run that goes on keeps what it began with. Collective: net, cache and run are rank
// 0's. Throws UsageError: a recipe that is not known, a number out of its flag's range.
void take_own_recipe(Verb train, TakenRecipe& taken, comm::Communicator& comm);

}  // namespace winnow::tools
