#pragma once

#include "app/train/train_choice.h"
#include "common/comm/communicator.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Adds --recipe and --show to `winnow train`, whose other options may be added later. Values from
// the command line, the environment or a configuration file take precedence over the recipe.
//
// --show  prints size and cost of the net and the command, and ends the program
// taken   is filled when the command line is parsed and names a recipe; must outlive `train`
void add_training_recipe_flags(Verb train, TakenRecipe& taken);

// Gives `train` the options of own_recipe(), the net's default recipe, if the user names no recipe.
// The words of `train` must have been parsed.
//
// Task     batch size and epochs as given, or the program's defaults
// None     if the user gave another optimiser than the recipe's
// Resumed  a resumed run keeps the options with which it began
// Ranks    collective: net, cache and run are those of rank 0
// Throws   UsageError: an unknown recipe, or a number outside its option's range
void take_own_recipe(Verb train, TakenRecipe& taken, comm::Communicator& comm);

}  // namespace winnow::tools
