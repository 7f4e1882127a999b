#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/nets/net_file.h"

// Recipes of training: flags of `winnow train` that go together, from papers and programs.
namespace winnow::app {

// A flag and its values: {"--milestones", {"82", "123"}}; a switch has no values.
struct RecipeSetting {
  std::string flag;
  std::vector<std::string> values{};
};

// The task as the user asked for it. 0 and an empty name: the recipe's own value.
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

// The recipes whose net exists.
std::vector<TrainingRecipe> training_recipes();
// Throws UsageError, which says where recipes are listed.
TrainingRecipe find_training_recipe(std::string_view name);

// The default recipe of `net`: by its name, else by the shorter side of its images; 0: unknown, the
// net's default. Throws as train::default_side_px().
TrainingRecipe own_recipe(const train::NetChoice& net, int side_px);

// The settings of a recipe for this task. Milestones, warm-up and warm-down keep their share of the
// epochs. Learning rates follow the batch, by the recipe's table or proportionally.
std::vector<RecipeSetting> settings_of(const TrainingRecipe& recipe, const RecipeTask& task);

// Names and descriptions, for help.
std::string training_recipes_help();

}  // namespace winnow::app
