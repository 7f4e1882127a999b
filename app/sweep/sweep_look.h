#pragma once

#include "app/experiment/last_look.h"
#include "app/experiment/train_jobs.h"
#include "app/sweep/sweep_plan.h"

namespace winnow::app {

// Evaluates the reported arms on test, all seeds of each. The queue stores results, so nothing is
// evaluated twice. Call it when nothing is left to decide.
//
// In      `how`: where and on how many lanes; `recommended`: the choice, nullopt if there is none
// Looks   looks.json in the folder of the sweep records the choices for which test was looked at
// Throws  as train_jobs()
LastLook look_at_test(const SweepOptions& options, const TrainJobs& how, const SweepPlan& plan,
                      std::optional<std::size_t> recommended, JobQueue& queue,
                      const Session& session);

}  // namespace winnow::app
