#pragma once

#include "app/train/train_choice.h"
#include "common/comm/communicator.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --recipe and --show of `winnow train`, whose other flags may be added later. Values from the
// command line, the environment or a configuration file take precedence over the recipe.
//
// --show    Prints size and cost of the net and the command, and ends the program.
// taken     Filled when the command line is parsed and names a recipe. Must outlive `train`.
void add_training_recipe_flags(Verb train, TakenRecipe& taken);

// If no recipe is named, gives `train`, whose words are parsed, the flags of own_recipe().
//
// Batch    and epochs: as given, or the program's defaults
// None     if another optimiser is given than the recipe's
// Resumed  a run keeps what it began with
// Ranks    collective: net, cache and run are rank 0's
// Throws   UsageError: an unknown recipe, a number outside its flag's range
void take_own_recipe(Verb train, TakenRecipe& taken, comm::Communicator& comm);

}  // namespace winnow::tools
