#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/nets/net_file.h"

// Recipes of training: options of `winnow train` that belong together, from papers and programs.
namespace winnow::app {

// An option and its values: {"--milestones", {"82", "123"}}. A switch has no values.
struct RecipeSetting {
  std::string flag;
  std::vector<std::string> values{};
};

// The user's task for a recipe. 0 or an empty name: the recipe's own value.
struct RecipeTask {
  double batch = 0;
  double epochs = 0;
  std::string net = {};
};

struct TrainingRecipe {
  std::string_view name;
  std::string_view what;
  std::string_view net;  // net of the recipe; empty: any net
  std::vector<RecipeSetting> (*settings)(const RecipeTask& task);
};

// All recipes for nets that exist in this build.
std::vector<TrainingRecipe> training_recipes();
// The recipe of this name. If there is none, throws UsageError with the command that lists recipes.
TrainingRecipe find_training_recipe(std::string_view name);

// The default recipe of `net`: by its name, else by the shorter side of its images in pixels (0:
// the net's default). Throws as train::default_side_px().
TrainingRecipe own_recipe(const train::NetChoice& net, int side_px);

// The options of a recipe for this task. Milestones, warm-up and warm-down keep their share of the
// epochs. Learning rates scale with the batch size, by the recipe's table or proportionally.
std::vector<RecipeSetting> settings_of(const TrainingRecipe& recipe, const RecipeTask& task);

// Names and descriptions of all recipes, for help.
std::string training_recipes_help();

}  // namespace winnow::app
