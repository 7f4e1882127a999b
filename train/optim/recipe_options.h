#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

// Options of all optimisers and learning-rate schedules, from which flags, help and config.json are
// generated.
namespace winnow::train {

// All options of the table, each key once, in the order of the rows.
std::vector<Option> optimizer_options();
std::vector<Option> lr_schedule_options();
std::vector<Option> step_options();  // clipping and averages, for every optimiser
std::vector<Option> rate_options();  // for every schedule

// An option with its effective values, for config.json.
struct RecipeEntry {
  Option option;
  std::vector<double> values;
};

// The options of this optimiser, except later ones (Option::later) that have their default. sgd and
// lars also store each other's: momentum, weight_decay, nesterov, lars_eta.
std::vector<RecipeEntry> optimizer_entries(std::string_view optimizer, const OptionValues& given);
std::vector<RecipeEntry> lr_schedule_entries(std::string_view schedule, const OptionValues& given);
std::vector<RecipeEntry> step_entries(const OptionValues& given);
std::vector<RecipeEntry> rate_entries(const OptionValues& given);

// Throws UsageError for an unknown name, a value out of range, missing kNumbers, an option that
// neither this optimiser nor this schedule stores, or an option without another one that it needs.
void check_recipe(std::string_view optimizer, std::string_view schedule, const OptionValues& given);

}  // namespace winnow::train
