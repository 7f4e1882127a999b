#include "tools/recipe_flags.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "tools/numbers.h"
#include "train/optim/learning_rate.h"
#include "train/optim/recipe_options.h"

namespace winnow::tools {
namespace {

using train::Option;
using train::OptionKind;

void add_flag(Verb verb, const Option& option, train::OptionValues& given) {
  const std::string flag = train::flag_of(option);
  const std::string what(option.what);
  const auto give = [&given, key = std::string(option.key)](std::vector<double> numbers) {
    given[key] = std::move(numbers);
  };
  switch (option.kind) {
    case OptionKind::kNumber:
      verb.on_option<double>(
              flag, [give](const double& number) { give({number}); }, what)
          .check(real_in(option.range))
          .show_default(fmt::format("{}", option.initial));
      return;
    case OptionKind::kSwitch:
      verb.on_switch(
              flag + ",!--no-" + flag.substr(2), [give](bool is_on) { give({is_on ? 1.0 : 0.0}); },
              what)
          .last_holds();
      return;
    case OptionKind::kNumbers:
      verb.on_option<std::vector<double>>(flag, give, what)
          .delimiter(',')
          .check(real_in(option.range));
      return;
  }
}

}  // namespace

void add_optimizer_flags(Verb verb, train::RecipeOptions& recipe) {
  verb.add_option("--optimizer", recipe.optimizer, "Optimizer").show_default();
  for (const Option& option : train::optimizer_options()) add_flag(verb, option, recipe.options);
  for (const Option& option : train::step_options()) add_flag(verb, option, recipe.options);
}

void add_lr_schedule_flags(Verb verb, train::RecipeOptions& recipe) {
  verb.add_option("--sched", recipe.rate.schedule, "Decay after the warm-up")
      .one_of(train::lr_schedule_names())
      .show_default();
  for (const Option& option : train::lr_schedule_options()) add_flag(verb, option, recipe.options);
  for (const Option& option : train::rate_options()) add_flag(verb, option, recipe.options);
}

}  // namespace winnow::tools
