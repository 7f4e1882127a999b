#include "app/sweep/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "app/experiment/run_outcome.h"
#include "app/experiment/sweep_cost.h"
#include "app/experiment/sweep_table.h"
#include "app/experiment/sweep_verdict.h"
#include "app/experiment/train_jobs.h"
#include "app/experiment/train_trial.h"
#include "app/experiment/train_words.h"
#include "app/sweep/sweep_json.h"
#include "app/sweep/sweep_look.h"
#include "app/sweep/sweep_page.h"
#include "app/words.h"
#include "common/error.h"
#include "common/json.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
// Jobs of the first `seeds` seeds of each arm, seed by seed, so that the table is complete, if
// coarse, as early as possible.
std::vector<std::string> jobs_of(const std::vector<SweepArm>& arms, std::size_t seeds) {
  std::vector<std::string> jobs;
  std::set<std::string> seen;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    for (const SweepArm& arm : arms) {
      if (seed < arm.jobs.size() && seen.insert(arm.jobs[seed]).second) {
        jobs.push_back(arm.jobs[seed]);
      }
    }
  }
  return jobs;
}

// Trains the runs of all arms. Returns the arms, without jobs that cannot matter.
std::vector<SweepArm> train_arms(const SweepRequest& o, const TrainJobs& how,
                                 const SweepJudge& judge, std::vector<SweepArm> arms,
                                 JobQueue& queue, const Session& session) {
  const std::size_t seeds = arms.front().jobs.size();
  const auto outcome_of = [&](const std::string& job) { return queue.outcome(job); };
  std::size_t done = o.all_seeds ? seeds : std::min(seeds, kFirstSeeds);
  train_jobs(how, jobs_of(arms, done), queue, session);
  for (; done < seeds; ++done) {
    arms = without_lost(std::move(arms), judge, done, outcome_of);
    train_jobs(how, jobs_of(arms, done + 1), queue, session);
  }
  return arms;
}

std::vector<std::string> commands_of(const SweepRequest& o, const std::vector<SweepArm>& arms) {
  std::vector<std::string> commands;
  for (const SweepArm& arm : arms) {
    commands.push_back(train_command(o.sweep.cache, train_words(arm.jobs.front())));
  }
  return commands;
}

void tell(const SweepRequest& o, const SweepView& view, const Session& session) {
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const ArmResult& result = view.results[i];
    say(session,
        fmt::format("{} ({} %, equal {}): {}{}", view.arms[i].name,
                    fmt::format("{:.1f}", 100 * view.arms[i].removed_share()), view.arms[i].budget,
                    result.runs() == 0 ? "no run" : percent(result.mean),
                    result.loss ? ", " + verdict_in_words(view.arms[i], result) : ""));
  }
  say(session, recommendation(view.arms, view.results, view.judge));
  say(session, in_words(view.test, view.arms));
  tell_files(o, sweep_json(view), session);
}

SweepRequest with_axes(SweepRequest o) {
  o.sweep.axes.keeps.clear();
  for (const std::string& name : o.keeps) {
    o.sweep.axes.keeps.push_back(dedup::parse_keep_policy(name));
  }
  o.sweep.axes.modes.clear();
  for (const std::string& name : o.modes) {
    o.sweep.axes.modes.push_back(dedup::parse_selection_mode(name));
  }
  return o;
}

// The estimated cost, from finished runs, or else from a few steps of the first one.
CostEstimate estimated_cost(const SweepRequest& o, const TrainJobs& how, const SweepPlan& plan,
                            const JobQueue& queue, const Session& session) {
  const auto is_done = [&](const std::string& job) { return queue.outcome(job).has_value(); };
  std::optional<RunSpeed> speed = speed_of(plan.arms, plan.held_out, [&](const std::string& job) {
    const std::optional<Outcome> outcome = queue.outcome(job);
    return outcome ? cost_of(*outcome) : std::nullopt;
  });
  const int at_once = std::min(o.lanes, thread_plan(session, o.threads).cores);
  const CostEstimate blind = estimate_cost(plan.arms, plan.held_out, at_once, {}, is_done);
  if (!speed && blind.done < blind.runs) {
    speed = try_training(how, plan.arms.front().jobs.front(), plan.training, o.out, session);
  }
  return estimate_cost(plan.arms, plan.held_out, at_once, speed.value_or(RunSpeed{}), is_done);
}

// The plan in the output of --estimate.
Json to_json(const SweepPlan& plan) {
  Json arms = Json::array();
  for (const SweepArm& arm : plan.arms) {
    arms.push_back({{"arm", arm.name},
                    {"equal", arm.budget},
                    {"kept", arm.kept},
                    {"removed", arm.removed},
                    {"epochs", arm.epochs},
                    {"control", arm.control ? Json(plan.arms[*arm.control].name) : Json(nullptr)}});
  }
  return {{"held_out", plan.held_out}, {"notes", plan.notes}, {"arms", std::move(arms)}};
}

void tell_plan(const SweepRequest& o, const TrainJobs& how, const SweepPlan& plan,
               const JobQueue& queue, const Session& session) {
  for (const std::string& note : plan.notes) say(session, note);
  const CostEstimate cost = estimated_cost(o, how, plan, queue, session);
  say(session, fmt::format("{}, judged on {} held out", count_of(plan.arms.size(), "arm"),
                           count_of(plan.held_out, "image")));
  Json json = tell_cost(o, "winnow.sweep-estimate/1", cost, session);
  json.update(to_json(plan));
  if (o.estimate && o.json) print(session, json.dump() + "\n");
}

SweepJudge judge_of(const SweepRequest& o, const SweepPlan& plan) {
  SweepJudge judge{.margin = o.margin_points / 100, .held_out_images = plan.held_out};
  if (o.most_images > 0) judge.most_images = o.most_images;
  return judge;
}

void check_most_images(const SweepRequest& o, const SweepPlan& plan) {
  const auto least = std::ranges::min_element(plan.arms, {}, &SweepArm::kept)->kept;
  if (o.most_images == 0 || o.most_images >= least) return;
  throw UsageError(fmt::format(
      "no point keeps at most {} of the {} training samples: the least is {}; add a larger "
      "--removed",
      grouped(o.most_images), grouped(plan.training), grouped(least)));
}

}  // namespace

void run_sweep(const SweepRequest& flags, Session& session) {
  const SweepRequest o = with_axes(flags);
  const pipeline::Cache cache = open_swept(o.sweep);
  JobQueue queue(o.out, "cache " + cache.digest());
  SweepPlan plan = plan_sweep(o.sweep, cache, o.estimate, o.out, session);
  check_most_images(o, plan);
  const TrainJobs how{.verb = "sweep",
                      .cache = o.sweep.cache,
                      .lanes = o.lanes,
                      .threads = o.threads,
                      .words = train_words};
  tell_plan(o, how, plan, queue, session);
  if (o.estimate) return;
  const SweepJudge judge = judge_of(o, plan);
  plan.arms = train_arms(o, how, judge, std::move(plan.arms), queue, session);
  SweepView view{.cache = o.sweep.cache.string(),
                 .arms = plan.arms,
                 .results = {},
                 .judge = judge,
                 .test = {},
                 .commands = commands_of(o, plan.arms),
                 .notes = plan.notes,
                 .classes = plan.classes,
                 .class_samples = plan.class_samples};
  view.results =
      results_of(view.arms, view.judge, [&](const std::string& job) { return queue.outcome(job); });
  view.test =
      look_at_test(o.sweep, how, plan, recommend(view.arms, view.results, judge), queue, session);
  write_files(o, {{"table.csv", sweep_csv(view)},
                  {"classes.csv", classes_csv(view)},
                  {"page.html", html_of(view, made_here())}});
  tell(o, view, session);
}

}  // namespace winnow::app
