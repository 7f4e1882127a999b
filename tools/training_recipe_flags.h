#pragma once

#include <string>

namespace CLI {
class App;
}

namespace winnow::tools {

// --recipe and --show of `winnow train`, which has its other flags or gets them later. What the
// command line, the environment or a configuration file give stands before the recipe. Where no
// recipe is named it is own_recipe(), for the batch and the epochs that are given or the program's;
// not where another optimiser is named than its own.
//
// told   Gets a sentence: which recipe was taken. It stays empty where none was, as with
//        --recipe none. It must outlive `train`.
// --show prints size and cost of the net and the command, and ends the program.
void add_training_recipe_flags(CLI::App& train, std::string& told);

}  // namespace winnow::tools
