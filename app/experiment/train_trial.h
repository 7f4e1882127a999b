#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"

namespace winnow::app {

// Measures speed and cost of runs by the first steps of one, if no run is done yet.
//
// How     Starts a `winnow train` with the words of `job` on a lane's cores and ends it after about
//         twenty steps, or after three long ones. It evaluates nothing. Nothing stays in `folder`.
// Diverged  It is measured until it diverges. If that is the first step, only the disk is.
// In      `epoch_images`: images of an epoch
// Throws  as train_jobs()
RunSpeed try_training(const TrainJobs& how, const std::string& job, std::uint64_t epoch_images,
                      const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app
