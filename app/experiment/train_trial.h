#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"

namespace winnow::app {

// How fast runs are and what they take, by the first steps of one, where none is done.
//
// Begins a `winnow train` with the words of `job` on a lane's cores, and ends it after some twenty
// steps, or after three of long ones: it evaluates nothing. Nothing stays in `folder`. One that
// diverges is measured until then; in its first step nothing is, but for the disk.
// In      `epoch_images`: that an epoch has
// Throws  as train_jobs()
RunSpeed try_training(const TrainJobs& how, const std::string& job, std::uint64_t epoch_images,
                      const std::filesystem::path& folder, const Session& session);

}  // namespace winnow::app
