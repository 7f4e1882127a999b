#include "tools/recipe_flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/numbers.h"
#include "train/optim/learning_rate.h"
#include "train/optim/recipe_options.h"

namespace winnow::tools {
namespace {

using train::Option;
using train::OptionKind;

void add_flag(CLI::App& app, const Option& option, train::OptionValues& given) {
  const std::string flag = train::flag_of(option);
  const std::string what(option.what);
  const auto give = [&given, key = std::string(option.key)](std::vector<double> numbers) {
    given[key] = std::move(numbers);
  };
  switch (option.kind) {
    case OptionKind::kNumber:
      app.add_option_function<double>(
             flag, [give](const double& number) { give({number}); }, what)
          ->check(real_in(option.range))
          ->default_str(fmt::format("{}", option.initial));
      return;
    case OptionKind::kSwitch:
      app.add_flag_function(
             flag + ",!--no-" + flag.substr(2),
             [give](std::int64_t count) { give({count > 0 ? 1.0 : 0.0}); }, what)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      return;
    case OptionKind::kNumbers:
      app.add_option_function<std::vector<double>>(flag, give, what)
          ->delimiter(',')
          ->check(real_in(option.range));
      return;
  }
}

}  // namespace

void add_optimizer_flags(CLI::App& app, train::RecipeOptions& recipe) {
  app.add_option("--optimizer", recipe.optimizer, "Optimizer")->capture_default_str();
  for (const Option& option : train::optimizer_options()) add_flag(app, option, recipe.options);
  for (const Option& option : train::step_options()) add_flag(app, option, recipe.options);
}

void add_lr_schedule_flags(CLI::App& app, train::RecipeOptions& recipe) {
  app.add_option("--sched", recipe.rate.schedule, "Decay after the warm-up")
      ->check(CLI::IsMember(train::lr_schedule_names()))
      ->capture_default_str();
  for (const Option& option : train::lr_schedule_options()) add_flag(app, option, recipe.options);
  for (const Option& option : train::rate_options()) add_flag(app, option, recipe.options);
}

}  // namespace winnow::tools
