#include "train/optim/recipe_options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"
#include "train/optim/averaging.h"
#include "train/optim/clip.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"
#include "train/optim/rate_options.h"

namespace winnow::train {
namespace {

// Runs with the first two optimisers also store each other's options, in this order. A run resumes
// only with an identical configuration.
constexpr std::array<std::string_view, 2> kFirstOptimizers{"sgd", "lars"};
constexpr std::array<std::string_view, 4> kFirstOptions{"momentum", "weight_decay", "nesterov",
                                                        "lars_eta"};

const Option* find_option(std::span<const Option> options, std::string_view key) {
  const auto found = std::ranges::find(options, key, &Option::key);
  return found == options.end() ? nullptr : &*found;
}

template <class Rows>
std::vector<Option> all_options(const Rows& rows) {
  std::vector<Option> all;
  for (const auto& row : rows) {
    for (const Option& option : row.options) {
      if (find_option(all, option.key) == nullptr) all.push_back(option);
    }
  }
  return all;
}

// Names of the rows that have an option with this key.
template <class Rows>
std::string owners_of(const Rows& rows, std::string_view key) {
  std::string names;
  for (const auto& row : rows) {
    if (find_option(row.options, key) == nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

// In the order of config.json.
std::vector<Option> stored_options(const Optimizer& optimizer) {
  if (std::ranges::find(kFirstOptimizers, optimizer.name) == kFirstOptimizers.end()) {
    return {optimizer.options.begin(), optimizer.options.end()};
  }
  const std::vector<Option> all = optimizer_options();
  std::vector<Option> stored;
  for (const std::string_view key : kFirstOptions) stored.push_back(*find_option(all, key));
  std::ranges::copy_if(optimizer.options, std::back_inserter(stored), &Option::later);
  return stored;
}

std::vector<RecipeEntry> entries(std::span<const Option> options, const OptionValues& given) {
  const ChosenOptions chosen(options, given);
  std::vector<RecipeEntry> entries;
  for (const Option& option : options) {
    const std::vector<double>& values = chosen.values(option.key);
    if (option.later && values == std::vector<double>{option.initial}) continue;
    entries.push_back({option, values});
  }
  return entries;
}

// `flag` is the flag that selects `row`, such as "--sched".
template <class Row>
void check_row(const Row& row, const std::string& flag, const OptionValues& given) {
  for (const Option& option : row.options) {
    const auto found = given.find(option.key);
    if (option.kind == OptionKind::kNumbers && (found == given.end() || found->second.empty())) {
      throw UsageError(flag + " " + std::string(row.name) + " needs " + flag_of(option));
    }
  }
  check_ranges(row.options, given);
}

bool is_on(const OptionValues& given, std::string_view key) {
  const auto found = given.find(key);
  return found != given.end() && found->second.front() != 0;
}

// Checks options that have no effect without another one, and numbers of steps.
void check_companions(const OptionValues& given) {
  struct Companion {
    std::string_view key, needs, what;
  };
  constexpr std::array kCompanions{
      Companion{"lr_sqrt", "lr_base_size", "the batch size that --lr was chosen for"},
      Companion{"ema_steps", "ema_decay", "the decay of the moving average"},
      Companion{"lookahead_alpha", "lookahead_steps", "the number of steps between two updates"},
      Companion{"lookahead_power", "lookahead_steps", "the number of steps between two updates"}};
  for (const std::string_view key : {"ema_steps", "lookahead_steps", "lookahead_power"}) {
    const auto found = given.find(key);
    if (found == given.end() || found->second.front() == std::round(found->second.front()))
      continue;
    throw UsageError(flag_of({.key = key, .what = {}}) + " must be a whole number");
  }
  for (const Companion& c : kCompanions) {
    if (!is_on(given, c.key) || is_on(given, c.needs)) continue;
    throw UsageError(flag_of({.key = c.key, .what = {}}) + " needs " +
                     flag_of({.key = c.needs, .what = {}}) + ", " + std::string(c.what));
  }
}

// lr_end needs a schedule that ends at it, or a cooldown.
void check_end(const LrSchedule& schedule, const OptionValues& given) {
  if (schedule.has_end || !is_on(given, "lr_end") || is_on(given, "cooldown_epochs")) return;
  std::string names;
  for (const LrSchedule& row : lr_schedules()) {
    if (row.has_end) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("--lr-end is for --sched " + names +
                   ", or for --cooldown-epochs; this run's --sched is " +
                   std::string(schedule.name) + ", and it has no --cooldown-epochs");
}

}  // namespace

std::vector<Option> optimizer_options() { return all_options(optimizers()); }
std::vector<Option> lr_schedule_options() { return all_options(lr_schedules()); }
std::vector<Option> step_options() {
  std::vector<Option> all(kClipOptions.begin(), kClipOptions.end());
  all.insert(all.end(), kAveragingOptions.begin(), kAveragingOptions.end());
  return all;
}
std::vector<Option> rate_options() { return {kRateOptions.begin(), kRateOptions.end()}; }

std::vector<RecipeEntry> optimizer_entries(std::string_view optimizer, const OptionValues& given) {
  return entries(stored_options(find_optimizer(optimizer)), given);
}

std::vector<RecipeEntry> lr_schedule_entries(std::string_view schedule, const OptionValues& given) {
  return entries(find_lr_schedule(schedule).options, given);
}

std::vector<RecipeEntry> step_entries(const OptionValues& given) {
  return entries(step_options(), given);
}

std::vector<RecipeEntry> rate_entries(const OptionValues& given) {
  return entries(kRateOptions, given);
}

void check_recipe(std::string_view optimizer, std::string_view schedule,
                  const OptionValues& given) {
  const Optimizer& rule = find_optimizer(optimizer);
  const LrSchedule& decay = find_lr_schedule(schedule);
  const std::vector<Option> stored = stored_options(rule);
  const std::vector<Option> of_steps = step_options();
  for (const auto& [key, values] : given) {
    if (find_option(stored, key) != nullptr || find_option(decay.options, key) != nullptr ||
        find_option(kRateOptions, key) != nullptr || find_option(of_steps, key) != nullptr) {
      continue;
    }
    const Option flag{.key = key, .what = {}};
    const std::string owners = owners_of(optimizers(), key);
    if (!owners.empty()) {
      throw UsageError(flag_of(flag) + " is an option of --optimizer " + owners +
                       "; this run's is " + std::string(optimizer));
    }
    throw UsageError(flag_of(flag) + " is an option of --sched " + owners_of(lr_schedules(), key) +
                     "; this run's is " + std::string(schedule));
  }
  check_ranges(stored, given);
  check_row(rule, "--optimizer", given);
  check_row(decay, "--sched", given);
  check_ranges(kRateOptions, given);
  check_ranges(of_steps, given);
  check_companions(given);
  check_end(decay, given);
}

}  // namespace winnow::train
