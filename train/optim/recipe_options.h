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
std::vector<Option> step_options();  // clipping and averages: they go with every optimiser
std::vector<Option> rate_options();  // those that go with every schedule

// An option and the values that hold, for config.json.
struct RecipeEntry {
  Option option;
  std::vector<double> values;
};

// The options of this optimiser, but for those that came later (Option::later) at their initial
// values. sgd and lars also store each other's: momentum, weight_decay, nesterov, lars_eta.
std::vector<RecipeEntry> optimizer_entries(std::string_view optimizer, const OptionValues& given);
std::vector<RecipeEntry> lr_schedule_entries(std::string_view schedule, const OptionValues& given);
std::vector<RecipeEntry> step_entries(const OptionValues& given);
std::vector<RecipeEntry> rate_entries(const OptionValues& given);

// UsageError: an unknown name, a value out of range, kNumbers that are not given, an option that
// neither this optimiser nor this schedule stores, or one without another that it needs.
void check_recipe(std::string_view optimizer, std::string_view schedule, const OptionValues& given);

}  // namespace winnow::train
