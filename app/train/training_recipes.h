#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/nets/net_file.h"

// Recipes of training: flags of `winnow train` that go together, as papers and programs have them.
namespace winnow::app {

// A flag and what follows it: {"--milestones", {"82", "123"}}; a switch has no values.
struct RecipeSetting {
  std::string flag;
  std::vector<std::string> values{};
};

// What was asked of a recipe. 0 and an empty name: the recipe's own.
struct RecipeTask {
  double batch = 0;
  double epochs = 0;
  std::string net = {};
};

struct TrainingRecipe {
  std::string_view name;
  std::string_view what;
  std::string_view net;  // empty: any
  std::vector<RecipeSetting> (*settings)(const RecipeTask& task);
};

// Those whose net there is.
std::vector<TrainingRecipe> training_recipes();
// UsageError that says where they are listed.
TrainingRecipe find_training_recipe(std::string_view name);

// The recipe that `net` is trained by where nobody names one: by its name, else by the shorter side
// of its images; 0: not known, the net's default. Throws as train::default_side_px().
TrainingRecipe own_recipe(const train::NetChoice& net, int side_px);

// The settings of a recipe for this task. Milestones, warm-up and warm-down keep their share of a
// run of other epochs. Learning rates follow the batch, by the recipe's table or in proportion.
std::vector<RecipeSetting> settings_of(const TrainingRecipe& recipe, const RecipeTask& task);

// Names and what they are, for help.
std::string training_recipes_help();

}  // namespace winnow::app
