#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

// Options of all optimisers and learning-rate schedules. Flags, help and config.json are generated
// from them.
namespace winnow::train {

// All options of the optimisers, or of the schedules. Each key occurs once, in the order of the
// table's rows.
std::vector<Option> optimizer_options();
std::vector<Option> lr_schedule_options();
// Options of gradient clipping and of averages of weights, which all optimisers have.
std::vector<Option> step_options();
std::vector<Option> rate_options();  // options of the learning rate that all schedules have

// An option and the value in effect, for config.json.
struct RecipeEntry {
  Option option;
  std::vector<double> values;
};

// Returns the options to store in config.json, for one optimiser or schedule. Leaves out options
// with Option::later that have their default. For compatibility, sgd and lars also store each
// other's: momentum, weight_decay, nesterov, lars_eta.
std::vector<RecipeEntry> optimizer_entries(std::string_view optimizer, const OptionValues& given);
std::vector<RecipeEntry> lr_schedule_entries(std::string_view schedule, const OptionValues& given);
std::vector<RecipeEntry> step_entries(const OptionValues& given);
std::vector<RecipeEntry> rate_entries(const OptionValues& given);

// Checks the options of a training recipe.
// Throws  UsageError: an unknown name, a value out of range, missing kNumbers, an option that
//         neither this optimiser nor this schedule has, or an option without another one that it
//         needs.
void check_recipe(std::string_view optimizer, std::string_view schedule, const OptionValues& given);

}  // namespace winnow::train
