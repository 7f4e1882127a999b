#pragma once

#include "app/experiment/last_look.h"
#include "app/experiment/train_jobs.h"
#include "app/sweep/sweep_plan.h"

namespace winnow::app {

// Evaluates the reported arms of a sweep (ways to thin the training data) on the test split, with
// all their seeds. Call it last: nothing may be decided by its results. Results are stored in the
// queue, so that no run is evaluated twice.
//
// how          where runs are trained, and how many at the same time
// recommended  index of the recommended arm; nullopt if there is none
// Looks        looks.json in the folder of the sweep counts the choices that were evaluated on test
// Throws       as train_jobs()
LastLook look_at_test(const SweepOptions& options, const TrainJobs& how, const SweepPlan& plan,
                      std::optional<std::size_t> recommended, JobQueue& queue,
                      const Session& session);

}  // namespace winnow::app
