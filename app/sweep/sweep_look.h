#pragma once

#include "app/experiment/last_look.h"
#include "app/experiment/train_jobs.h"
#include "app/sweep/sweep_plan.h"

namespace winnow::app {

// Evaluates the arms to report on test, all seeds of each, and keeps that in the queue: what was
// evaluated once is not again. Call it when nothing is left to be decided.
//
// In     `how`: where and on how many lanes; `recommended`: the choice, nothing where there is none
// Looks  looks.json in the folder of the sweep has the choices that test was looked at for
// Throws as train_jobs()
LastLook look_at_test(const SweepOptions& options, const TrainJobs& how, const SweepPlan& plan,
                      std::optional<std::size_t> recommended, JobQueue& queue,
                      const Session& session);

}  // namespace winnow::app
