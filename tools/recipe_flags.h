#pragma once

#include "train/run/options.h"

namespace CLI {
class App;
}

namespace winnow::tools {

// Flags made from the tables of train/optim. `recipe` must live as long as `app`.

// --optimizer, the options of all optimisers and those that go with every one.
void add_optimizer_flags(CLI::App& app, train::RecipeOptions& recipe);
// --sched, the options of all learning-rate schedules and those that go with every one.
void add_lr_schedule_flags(CLI::App& app, train::RecipeOptions& recipe);

}  // namespace winnow::tools
