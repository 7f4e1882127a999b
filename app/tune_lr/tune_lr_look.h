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
  std::uint64_t looks = 0;            // for different choices, this one included; 0: none
  std::vector<TestedRuns> arms = {};  // final runs of all; empty where nothing was looked at
};

// Evaluates all final runs on test, and keeps that in the queue. `state`: ended.
// Throws UsageError: the cache has no test split; as train_jobs().
TuneLook look_at_test(const TrainJobs& how, const TunePlan& plan, const TuneState& state,
                      JobQueue& queue, const Session& session);

// What is left to do: at most, where trials diverge.
struct TuneWork {
  std::size_t runs = 0;
  std::size_t done = 0;
  double epochs = 0;  // of those that are not done
};
TuneWork work_of(const TunePlan& plan, const TuneState& state);

// Of one epoch, as RunSpeed counts: an image that is evaluated counts a third.
double work_of_epoch(const TunePlan& plan);

// How fast runs of an arm are, by its trials that are done; nothing where none is.
std::optional<RunSpeed> speed_of(const TunePlan& plan, const TuneState& state, std::size_t arm,
                                 const OutcomeOf& outcome_of);

}  // namespace winnow::app
