#include "app/tune_lr/tune_lr.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/experiment/train_trial.h"
#include "app/tune_lr/tune_lr_look.h"
#include "app/tune_lr/tune_lr_page.h"
#include "app/words.h"
#include "common/error.h"
#include "common/json.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

TuneLrOptions with_axes(const TuneLrRequest& flags) {
  TuneLrOptions o = flags.tune;
  for (std::size_t i = 0; i < kTuneFlags.size(); ++i) {
    for (const std::string& words : flags.axes[i]) {
      o.arms.axes.push_back(parse_axis(kTuneFlags[i].flag, words));
    }
  }
  return o;
}

std::string announcement(const TunePlan& plan, const TuneState& state) {
  const TuneLrOptions& o = plan.options;
  const std::size_t trials = plan.rungs.front().trials;
  return fmt::format(
      "{} of each optimiser at each batch size, then {} of its best setting: {}; judged on {} held "
      "out, trained on {}",
      count_of(trials, "trial"), count_of(static_cast<std::uint64_t>(o.seeds), "run"),
      count_of(work_of(plan, state).runs, "run"), count_of(plan.held_out, "image"),
      grouped(plan.training));
}

// A tuning, and the results so far.
struct Tuning {
  const TunePlan& plan;
  const TuneState& state;
  const OutcomeOf& outcome_of;
};

// The estimated cost of what is left, from finished runs at the largest batch, or else from a few
// steps with its lowest rate. `place`: an existing folder.
CostEstimate estimated_cost(const TrainJobs& how, const Tuning& tuning, const fs::path& place,
                            const Session& session) {
  const auto& [plan, state, outcome_of] = tuning;
  const TuneWork work = work_of(plan, state);
  CostEstimate told{.runs = work.runs, .done = work.done};
  const std::size_t left = work.runs - work.done;
  if (left == 0) return told;
  const auto arm = static_cast<std::size_t>(
      std::ranges::max_element(plan.arms, {}, &TuneArm::batch) - plan.arms.begin());
  std::optional<RunSpeed> speed = speed_of(plan, state, arm, outcome_of);
  if (!speed) {
    const std::vector<TuneSetting>& settings = plan.arms[arm].settings;
    const auto lowest = std::ranges::min_element(settings) - settings.begin();
    const std::string job =
        trial_job(plan, arm, static_cast<std::size_t>(lowest), plan.rungs.size() - 1);
    speed = try_training(how, job, plan.training, place, session);
  }
  told.images = work.epochs * static_cast<double>(plan.training);
  told.seconds = work.epochs * work_of_epoch(plan) * speed->seconds_per_image /
                 static_cast<double>(std::min(static_cast<std::size_t>(how.lanes), left));
  told.lane_bytes = speed->peak_bytes;
  told.disk_bytes = left * speed->disk_bytes;
  return told;
}

// Prints the plan and its cost, and refuses what does not fit.
void tell_plan(const TuneLrRequest& flags, const TrainJobs& how, const Tuning& tuning,
               const Session& session) {
  say(session, announcement(tuning.plan, tuning.state));
  const fs::path place = fs::exists(flags.out) ? flags.out : fs::absolute(flags.out).parent_path();
  const CostEstimate told = estimated_cost(how, tuning, place, session);
  Json json = tell_cost(flags, "winnow.tune_lr_estimate/1", told, session);
  json.erase("shared");  // arms share no runs here
  if (flags.estimate && flags.json) print(session, json.dump() + "\n");
}

void tell(const TuneLrRequest& flags, const TuneView& view, const Session& session) {
  for (std::size_t i = 0; i < view.rows.size(); ++i) say(session, in_words(view, i));
  for (const std::string& sentence : advice_of(view)) {
    // Notes were printed at the start.
    if (std::ranges::find(view.plan.notes, sentence) == view.plan.notes.end())
      say(session, sentence);
  }
  tell_files(flags, json_of(view), session);
}

}  // namespace

void run_tune_lr(const TuneLrRequest& flags, Session& session) {
  const TunePlan plan = plan_tuning(with_axes(flags));
  if (flags.test && plan.test == 0) {
    throw UsageError(plan.options.cache.string() + " has no test split; leave out --test");
  }
  for (const std::string& note : plan.notes) say(session, note);
  const TrainJobs how{.verb = "tune-lr",
                      .cache = plan.options.cache,
                      .lanes = flags.lanes,
                      .threads = flags.threads,
                      .words = tuned_words};
  if (flags.estimate && !fs::exists(flags.out)) {
    const OutcomeOf none = [](const std::string&) { return std::optional<Outcome>(); };
    return tell_plan(flags, how, {plan, state_of(plan, none), none}, session);
  }
  JobQueue queue(flags.out, "cache " + plan.cache_digest);
  const OutcomeOf outcome_of = [&](const std::string& job) { return queue.outcome(job); };
  TuneState state = state_of(plan, outcome_of);
  tell_plan(flags, how, {plan, state, outcome_of}, session);
  if (flags.estimate) return;
  for (; !state.ended; state = state_of(plan, outcome_of)) {
    train_jobs(how, state.jobs, queue, session);
  }
  const TuneJudge judge{.margin = flags.margin_points / 100, .held_out_images = plan.held_out};
  const std::vector<TuneRow> rows = rows_of(plan.arms, state.runs, judge);
  TuneView view{.plan = plan, .state = state, .rows = rows, .judge = judge};
  if (flags.test) {
    view.test = look_at_test(how, plan, state, queue, session);
  }
  write_files(flags, {{"table.csv", table_csv(view)},
                      {"trials.csv", trials_csv(view)},
                      {"page.html", html_of(view, made_here())}});
  tell(flags, view, session);
}

}  // namespace winnow::app
