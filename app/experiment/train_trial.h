#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "common/json.h"

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

// What this machine has left for runs.
struct Room {
  std::uint64_t memory = 0;  // kNoMemoryLimit: not known
  std::uint64_t disk = 0;
};
// `out`: the folder of the runs, which need not be there.
Room room_for_runs(const std::filesystem::path& out);

// Says what runs will take. Throws UsageError where they do not fit, as check_memory() and
// check_disk().
void tell_cost(const Foretold& foretold, int lanes, const Room& room, const Session& session);

// The object that --estimate prints; an experiment adds what it knows besides.
Json json_of(std::string_view schema, const Foretold& foretold, const Room& room);

}  // namespace winnow::app
