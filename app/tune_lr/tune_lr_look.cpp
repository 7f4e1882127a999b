#include "app/tune_lr/tune_lr_look.h"

#include "app/experiment/run_outcome.h"
#include "app/experiment/test_look.h"

namespace winnow::app {
namespace {

// Jobs of the final runs of an arm, by seed.
std::vector<std::string> finals_of(const TunePlan& plan, const TuneState& state, std::size_t arm) {
  std::vector<std::string> jobs;
  const std::optional<std::size_t> best = state.runs[arm].halving.best;
  for (int seed = 1; best && seed <= plan.options.seeds; ++seed) {
    jobs.push_back(final_job(plan, arm, *best, seed));
  }
  return jobs;
}

}  // namespace

TuneLook look_at_test(const TrainJobs& how, const TunePlan& plan, const TuneState& state,
                      JobQueue& queue, const Session& session) {
  std::vector<std::string> runs;
  std::string choice;
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
    const std::vector<std::string> jobs = finals_of(plan, state, arm);
    if (!jobs.empty()) choice += jobs.front() + "\n";
    runs.insert(runs.end(), jobs.begin(), jobs.end());
  }
  TuneLook look{.looks = note_look(queue.folder(), job_key(choice))};
  const OutcomeOf outcome_of = evaluate_on_test({.runs = how,
                                                 .cache_digest = plan.cache_digest,
                                                 .selection = plan.options.selection,
                                                 .train = plan.options.train},
                                                runs, queue, session);
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
    look.arms.push_back(tested_runs(finals_of(plan, state, arm), outcome_of));
  }
  return look;
}

TuneWork work_of(const TunePlan& plan, const TuneState& state) {
  TuneWork work;
  const auto count = [&](std::size_t all, std::size_t done, double epochs) {
    work.runs += all;
    work.done += done;
    work.epochs += static_cast<double>(all - done) * epochs;
  };
  const auto done_of = [](const std::vector<std::optional<TunedRun>>& runs) {
    std::size_t done = 0;
    for (const std::optional<TunedRun>& run : runs) done += run ? 1 : 0;
    return done;
  };
  for (const ArmRuns& runs : state.runs) {
    for (std::size_t rung = 0; rung < plan.rungs.size(); ++rung) {
      const bool known = rung < runs.rungs.size();
      // Fewer trials may continue than planned, because others diverged.
      count(known                ? runs.rungs[rung].size()
            : runs.halving.ended ? 0
                                 : plan.rungs[rung].trials,
            known ? done_of(runs.rungs[rung]) : 0, plan.rungs[rung].epochs);
    }
    const bool none = runs.halving.ended && !runs.halving.best;
    count(none ? 0 : static_cast<std::size_t>(plan.options.seeds), done_of(runs.finals),
          plan.options.arms.epochs);
  }
  return work;
}

double work_of_epoch(const TunePlan& plan) {
  return static_cast<double>(plan.training) + static_cast<double>(plan.held_out) / 3;
}

std::optional<RunSpeed> speed_of(const TunePlan& plan, const TuneState& state, std::size_t arm,
                                 const OutcomeOf& outcome_of) {
  SpeedMeter meter;
  const std::vector<std::vector<std::size_t>>& trials = state.runs[arm].halving.trials;
  for (std::size_t rung = 0; rung < trials.size(); ++rung) {
    for (const std::size_t trial : trials[rung]) {
      const std::optional<Outcome> outcome = outcome_of(trial_job(plan, arm, trial, rung));
      const std::optional<RunCost> cost = outcome ? cost_of(*outcome) : std::nullopt;
      if (cost) meter.add(*cost, plan.rungs[rung].epochs * work_of_epoch(plan));
    }
  }
  return meter.speed();
}

}  // namespace winnow::app
