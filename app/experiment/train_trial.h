#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"

namespace winnow::app {

// Measures speed and cost of runs by the first steps of a trial run, for use before any run is
// done.
//
// How       Starts a `winnow train` with the options of `job` on one lane's share of the cores.
//           Ends it after about twenty steps, or after three long ones. Evaluates nothing. Leaves
//           no files in `folder`.
// Diverged  It is measured up to that step. If it is the first, only the disk space is measured.
// In        `epoch_images`: images of an epoch
// Throws    as train_jobs()
RunSpeed try_training(const TrainJobs& how, const std::string& job, std::uint64_t epoch_images,
                      const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app
