#include "app/tune_lr/tune_lr_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "app/experiment/train_words.h"
#include "app/words.h"
#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/samples.h"
#include "pipeline/store/cache.h"
#include "train/optim/optimizer.h"
#include "train/optim/recipe_options.h"

namespace winnow::app {
namespace {

bool names_recipe(const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return flag_of_word(word) == "--recipe"; });
}

template <class T>
void check_once(const std::vector<T>& values, std::string_view flag) {
  std::set<T> seen;
  for (const T& value : values) {
    if (!seen.insert(value).second) {
      throw UsageError(fmt::format("{} has {} twice; name each once", flag, value));
    }
  }
}

bool is_of(const std::string& optimizer, std::string_view key) {
  const std::span<const train::Option> options = train::find_optimizer(optimizer).options;
  return std::ranges::find(options, key, &train::Option::key) != options.end();
}

TunedOptimizer look_up(const std::string& name) {
  TunedOptimizer optimizer{.name = name, .flags = {}};
  for (const TuneFlag& flag : kTuneFlags) {
    std::string key(flag.flag);
    std::ranges::replace(key, '-', '_');
    if (!flag.is_option || is_of(name, key)) optimizer.flags.emplace_back(flag.flag);
  }
  return optimizer;
}

// The forms that an optimiser's option may have on the command line.
std::vector<WordFlag> flags_of(const train::Option& option) {
  const std::string flag = train::flag_of(option);
  if (option.kind != train::OptionKind::kSwitch) return {{flag, true}};
  return {{flag, false}, {"--no-" + flag.substr(2), false}};
}

// The words for runs of one optimiser, without options that only others have.
std::vector<std::string> words_for(const std::string& optimizer,
                                   const std::vector<std::string>& words) {
  std::vector<WordFlag> of_others;
  for (const train::Option& option : train::optimizer_options()) {
    if (is_of(optimizer, option.key)) continue;
    for (WordFlag& flag : flags_of(option)) of_others.push_back(std::move(flag));
  }
  return without_flags(words, of_others);
}

// Notes which options apply to some of the optimisers only. Throws UsageError for those that apply
// to none.
void note_options(TunePlan& plan) {
  const TuneLrOptions& o = plan.options;
  for (const train::Option& option : train::optimizer_options()) {
    const bool is_given = without_flags(o.train, flags_of(option)).size() < o.train.size();
    if (!is_given) continue;
    const std::string flag = train::flag_of(option);
    std::vector<std::string> owners;
    std::ranges::copy_if(o.optimizers, std::back_inserter(owners),
                         [&](const std::string& name) { return is_of(name, option.key); });
    if (owners.empty()) {
      throw UsageError(flag + " is no option of any of --optimizers; leave it out");
    }
    if (owners.size() == o.optimizers.size()) continue;
    plan.notes.push_back(fmt::format("{} counts for {} alone", flag, fmt::join(owners, ", ")));
  }
}

void check_batches(const TunePlan& plan) {
  for (const std::uint64_t batch : plan.options.arms.batches) {
    if (batch <= plan.training) continue;
    throw UsageError(
        fmt::format("a batch of {} is larger than the {} training samples that remain after {} are "
                    "held out; remove it from --batch-sizes",
                    grouped(batch), grouped(plan.training), grouped(plan.held_out)));
  }
}

constexpr double kFewSteps = 10;

void note_short_trials(TunePlan& plan) {
  const double epochs = plan.rungs.front().epochs;
  for (const std::uint64_t batch : plan.options.arms.batches) {
    const double steps = epochs * static_cast<double>(plan.training) / static_cast<double>(batch);
    if (steps >= kFewSteps) continue;
    plan.notes.push_back(fmt::format(
        "at batch {} a trial of {:.4g} {} is {:.0f} {}, which may be too few to tell rates apart; "
        "take more --epochs{}",
        grouped(batch), epochs, epochs == 1 ? "epoch" : "epochs", steps,
        steps < 1.5 ? "step" : "steps", plan.rungs.size() > 1 ? ", or fewer --trials" : ""));
  }
}

std::string six_digits(double value) { return fmt::format("{:.6g}", value); }

std::string job_of(const TunePlan& plan, std::size_t arm_place, std::size_t setting, double epochs,
                   std::uint64_t seed) {
  const TuneArm& arm = plan.arms[arm_place];
  const TuneLrOptions& o = plan.options;
  std::vector<std::string> words{"--optimizer", arm.optimizer, "--batch-size",
                                 std::to_string(arm.batch)};
  for (std::size_t axis = 0; axis < arm.axes.size(); ++axis) {
    double value = arm.settings[setting][axis];
    // A short run is a shorter version of the recipe.
    if (arm.axes[axis].flag == "warmup-epochs") value *= epochs / o.arms.epochs;
    words.insert(words.end(), {"--" + arm.axes[axis].flag, six_digits(value)});
  }
  words.insert(words.end(), {"--epochs", six_digits(epochs), "--seed", std::to_string(seed),
                             "--holdout", six_digits(o.holdout)});
  if (!o.selection.empty()) words.insert(words.end(), {"--selection", o.selection});
  // The net's default recipe fits one optimiser only.
  if (!o.arms.has_recipe) words.insert(words.end(), {"--recipe", "none"});
  for (std::string& word : words_for(arm.optimizer, o.train)) words.push_back(std::move(word));
  return Json{{"cache", plan.cache_digest}, {"selection", plan.selection_digest}, {"train", words}}
      .dump();
}

TunedRun run_of(const Outcome& outcome) {
  if (outcome.failed) return {.score = {.failed = true}, .why = outcome.text};
  const JsonReader read(outcome.text, {.name = "the result of a run"});
  return {.score = {.top1 = read.at("top1").real(0, 1), .loss = read.at("loss").real()},
          .steps = read.at("steps").number(),
          .seconds = read.at("seconds").real_from_0()};
}

}  // namespace

TunePlan plan_tuning(TuneLrOptions options) {
  check_train_words("tune-lr", options.train);
  check_once(options.optimizers, "--optimizers");
  check_once(options.arms.batches, "--batch-sizes");
  options.arms.has_recipe = names_recipe(options.train);
  options.arms.optimizers.clear();
  for (const std::string& name : options.optimizers) {
    options.arms.optimizers.push_back(look_up(name));
  }
  const pipeline::Cache cache = pipeline::Cache::open(options.cache);
  const pipeline::HeldOut cut =
      pipeline::hold_out(cache, pipeline::select_samples(cache, Split::kTrain, options.selection),
                         options.selection, options.holdout);
  TunePlan plan{.options = std::move(options),
                .cache_digest = cache.digest(),
                .selection_digest = {},
                .training = cut.train.size(),
                .held_out = cut.held.size(),
                .arms = {},
                .rungs = {},
                .test = {}};
  const TuneLrOptions& o = plan.options;
  plan.test = pipeline::evaluation_samples(cache, Split::kTest, o.selection).all.size();
  plan.selection_digest = pipeline::selection_digest(cache, o.selection);
  check_batches(plan);
  plan.arms = arms_of(o.arms);
  const std::size_t trials = plan.arms.front().settings.size();
  plan.rungs =
      o.halving ? halving_rungs(trials, o.arms.epochs) : std::vector<Rung>{{trials, o.arms.epochs}};
  note_options(plan);
  note_short_trials(plan);
  return plan;
}

std::string trial_job(const TunePlan& plan, std::size_t arm, std::size_t setting,
                      std::size_t rung) {
  return job_of(plan, arm, setting, plan.rungs[rung].epochs, plan.options.arms.seed);
}

std::string final_job(const TunePlan& plan, std::size_t arm, std::size_t setting, int seed) {
  return job_of(plan, arm, setting, plan.options.arms.epochs,
                plan.options.arms.seed + static_cast<std::uint64_t>(seed));
}

std::vector<std::string> tuned_words(const std::string& job) {
  return JsonReader(job, {.name = "a job of the tuning"}).at("train").texts();
}

TuneState state_of(const TunePlan& plan, const OutcomeOf& outcome_of) {
  TuneState state{.runs = {}, .jobs = {}, .ended = true};
  std::vector<std::vector<std::string>> stages(plan.rungs.size() + 1);  // rungs, final runs
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
    ArmRuns runs;
    const auto run = [&](std::size_t stage, std::string job) {
      const std::optional<Outcome> outcome = outcome_of(job);
      stages[stage].push_back(std::move(job));
      state.ended = state.ended && outcome.has_value();
      return outcome ? std::optional(run_of(*outcome)) : std::nullopt;
    };
    runs.halving = halving_so_far(plan.rungs, [&](std::size_t rung, std::size_t setting) {
      const std::optional<Outcome> outcome = outcome_of(trial_job(plan, arm, setting, rung));
      return outcome ? std::optional(run_of(*outcome).score) : std::nullopt;
    });
    for (std::size_t rung = 0; rung < runs.halving.trials.size(); ++rung) {
      runs.rungs.emplace_back();
      for (const std::size_t setting : runs.halving.trials[rung]) {
        runs.rungs[rung].push_back(run(rung, trial_job(plan, arm, setting, rung)));
      }
    }
    if (runs.halving.best) {
      for (int seed = 1; seed <= plan.options.seeds; ++seed) {
        runs.finals.push_back(
            run(plan.rungs.size(), final_job(plan, arm, *runs.halving.best, seed)));
      }
    }
    state.ended = state.ended && runs.halving.ended;
    state.runs.push_back(std::move(runs));
  }
  for (std::vector<std::string>& stage : stages) {
    for (std::string& job : stage) state.jobs.push_back(std::move(job));
  }
  return state;
}

}  // namespace winnow::app
