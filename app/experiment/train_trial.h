#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/sweep_cost.h"
#include "app/session.h"

namespace winnow::app {

// What the first steps of a training took.
struct TrialResult {
  double seconds_per_image = 0;  // without what comes before the first step
  std::uint64_t peak_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of the run's folder, with one checkpoint
};

// Begins a `winnow train` with these words, the cache first, and ends it after some twenty steps,
// or after three of long ones: it evaluates nothing. Nothing stays in `folder`. One that diverges
// is measured until then; in its first step nothing is, but for the disk.
// In      `epoch_images`: that an epoch has
// Throws  as train_jobs()
TrialResult try_training(const std::string& verb, const std::vector<std::string>& words,
                         std::uint64_t epoch_images, int threads,
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

}  // namespace winnow::app
