#include "app/experiment/tune_arms.h"

#include <fmt/core.h>

#include <optional>
#include <set>
#include <utility>

#include "app/words.h"
#include "common/error.h"

namespace winnow::app {
namespace {

constexpr int kRates = 7;

// The axis that the user named for this optimiser, else the one named for all.
std::optional<TuneAxis> named(const TuneArmOptions& o, std::string_view optimizer,
                              std::string_view flag) {
  for (const std::string_view owner : {optimizer, std::string_view()}) {
    const auto found = std::ranges::find_if(o.axes, [&](const AxisWords& words) {
      return words.axis.flag == flag && words.optimizer == owner;
    });
    if (found != o.axes.end()) return found->axis;
  }
  return std::nullopt;
}

// The axis to try if the user named none; nullopt: the optimiser's default, or the recipe's.
std::optional<TuneAxis> default_axis(const TuneArmOptions& o, std::string_view optimizer,
                                     std::string_view flag, std::uint64_t batch) {
  const bool draws = o.trials > 0;
  if (flag == "lr") {
    TuneAxis lr = default_lr(optimizer, static_cast<double>(batch));
    if (!draws) lr.values = spaced_by_factor(lr.least, lr.most, kRates);
    return lr;
  }
  if (flag == "weight-decay" && draws) return default_decay(optimizer);
  if (flag == "warmup-epochs" && (draws || !o.has_recipe)) {
    TuneAxis warmup{.flag = std::string(flag), .scale = AxisScale::kEven};
    if (draws) {
      warmup.most = o.epochs / 5;
    } else {
      warmup.values = {o.epochs / 10};
    }
    return warmup;
  }
  return std::nullopt;
}

std::vector<TuneAxis> axes_of(const TuneArmOptions& o, const TunedOptimizer& optimizer,
                              std::uint64_t batch) {
  std::vector<TuneAxis> axes;
  for (const TuneFlag& flag : kTuneFlags) {
    if (!optimizer.has(flag.flag)) continue;
    std::optional<TuneAxis> axis = named(o, optimizer.name, flag.flag);
    if (!axis) axis = default_axis(o, optimizer.name, flag.flag, batch);
    if (axis) axes.push_back(std::move(*axis));
  }
  return axes;
}

// An axis may be named once for all, and once for each optimiser.
void check_named_once(const TuneArmOptions& o) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const AxisWords& words : o.axes) {
    const std::string& flag = words.axis.flag;
    if (seen.emplace(words.optimizer, flag).second) continue;
    throw UsageError(fmt::format("--{} is given twice{}; put all values into one list", flag,
                                 words.optimizer.empty() ? "" : " for " + words.optimizer));
  }
}

void check_words(const TuneArmOptions& o, const AxisWords& words) {
  const std::string& flag = words.axis.flag;
  const auto has_it = [&](const TunedOptimizer& optimizer) {
    return (words.optimizer.empty() || words.optimizer == optimizer.name) && optimizer.has(flag);
  };
  if (!words.optimizer.empty() && std::ranges::find(o.optimizers, words.optimizer,
                                                    &TunedOptimizer::name) == o.optimizers.end()) {
    throw UsageError(fmt::format("--{} is given for {}, which is not among --optimizers", flag,
                                 words.optimizer));
  }
  if (std::ranges::none_of(o.optimizers, has_it)) {
    throw UsageError(
        fmt::format("--{} is no option of {}; leave it out", flag,
                    words.optimizer.empty() ? "any of --optimizers" : words.optimizer));
  }
  if (words.axis.is_drawn() && o.trials == 0) {
    throw UsageError(
        fmt::format("--{} is a range; give the number of random settings to draw from it, such as "
                    "--trials 12, or list its values",
                    flag));
  }
  const double most = words.axis.is_drawn() ? words.axis.most : words.axis.values.back();
  if (flag == "warmup-epochs" && most >= o.epochs) {
    throw UsageError(fmt::format(
        "a warm-up of {:g} epochs is not shorter than the whole training of {:g} epochs; use "
        "more --epochs, or a shorter warm-up",
        most, o.epochs));
  }
}

}  // namespace

std::string TuneArm::name() const { return optimizer + ", batch " + grouped(batch); }

std::vector<TuneArm> arms_of(const TuneArmOptions& o) {
  check_named_once(o);
  for (const AxisWords& words : o.axes) check_words(o, words);
  std::vector<TuneArm> arms;
  for (const std::uint64_t batch : o.batches) {
    for (const TunedOptimizer& optimizer : o.optimizers) {
      TuneArm arm{.optimizer = optimizer.name,
                  .batch = batch,
                  .axes = axes_of(o, optimizer, batch),
                  .settings = {}};
      arm.settings = o.trials > 0 ? drawn_of(arm.axes, o.trials, o.seed) : grid_of(arm.axes);
      arms.push_back(std::move(arm));
    }
  }
  for (const TuneArm& arm : arms) {
    const TuneArm& first = arms.front();
    if (arm.settings.size() == first.settings.size()) continue;
    throw UsageError(fmt::format(
        "{} would get {} trials, but {} would get {}, which is unfair; give both the same number "
        "of values, such as --lr {}=..., or draw the same number with --trials",
        first.optimizer, first.settings.size(), arm.optimizer, arm.settings.size(), arm.optimizer));
  }
  return arms;
}

}  // namespace winnow::app
