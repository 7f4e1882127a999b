#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/last_look.h"
#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "app/tune_lr/tune_lr_plan.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

struct TuneLook {
  // Number of different choices that were evaluated on test, including this one; 0: none.
  std::uint64_t looks = 0;
  std::vector<TestedRuns> arms = {};  // final runs of all arms; empty if test was not evaluated
};

// Evaluates the final runs of all arms (one optimiser at one batch size each) on the test split,
// and stores the results in the queue. The search must have ended (`state`). Throws UsageError: the
// cache has no test split; as train_jobs().
TuneLook look_at_test(const TrainJobs& how, const TunePlan& plan, const TuneState& state,
                      JobQueue& queue, const Session& session);

// Training that is left to do, at most: trials that diverge need less.
struct TuneWork {
  std::size_t runs = 0;
  std::size_t done = 0;
  double epochs = 0;  // epochs of all runs that are not done
};
TuneWork work_of(const TunePlan& plan, const TuneState& state);

// Work of one epoch in training images, as RunSpeed counts it: an evaluated image counts a third.
double work_of_epoch(const TunePlan& plan);

// Speed of an arm's runs (one optimiser at one batch size), from its finished trials; nullopt if
// there are none.
std::optional<RunSpeed> speed_of(const TunePlan& plan, const TuneState& state, std::size_t arm,
                                 const OutcomeOf& outcome_of);

}  // namespace winnow::app
