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
  std::uint64_t looks = 0;  // number of different choices that were tested, with this one; 0: none
  std::vector<TestedRuns> arms = {};  // final runs of all arms; empty if test was not looked at
};

// Evaluates all final runs on test, and stores results in the queue. `state`: ended.
// Throws  UsageError: the cache has no test split; as train_jobs().
TuneLook look_at_test(const TrainJobs& how, const TunePlan& plan, const TuneState& state,
                      JobQueue& queue, const Session& session);

// Work that is left, at most: trials may diverge.
struct TuneWork {
  std::size_t runs = 0;
  std::size_t done = 0;
  double epochs = 0;  // epochs of the runs that are not done
};
TuneWork work_of(const TunePlan& plan, const TuneState& state);

// Work of one epoch as RunSpeed counts it: an evaluated image counts a third.
double work_of_epoch(const TunePlan& plan);

// Speed of an arm's runs, from its finished trials; nullopt if there are none.
std::optional<RunSpeed> speed_of(const TunePlan& plan, const TuneState& state, std::size_t arm,
                                 const OutcomeOf& outcome_of);

}  // namespace winnow::app
