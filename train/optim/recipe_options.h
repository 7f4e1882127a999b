#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

// Options of all optimisers and learning-rate schedules: what flags, help and config.json are made
// from.
namespace winnow::train {

// Every option of the table, each key once, in the order of the rows.
std::vector<Option> optimizer_options();
std::vector<Option> lr_schedule_options();

// An option and the values that hold, for config.json.
struct RecipeEntry {
  Option option;
  std::vector<double> values;
};

// The options of this optimiser. sgd and lars also store each other's: momentum, weight_decay,
// nesterov, lars_eta.
std::vector<RecipeEntry> optimizer_entries(std::string_view optimizer, const OptionValues& given);
std::vector<RecipeEntry> lr_schedule_entries(std::string_view schedule, const OptionValues& given);

// UsageError: an unknown name, a value out of range, kNumbers that are not given, or an option that
// neither this optimiser nor this schedule stores.
void check_recipe(std::string_view optimizer, std::string_view schedule, const OptionValues& given);

}  // namespace winnow::train
