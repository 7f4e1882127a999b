#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/experiment/sweep_cost.h"
#include "common/json_reader.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// What a queue keeps of a run that is done.
//
// In        `printed`: by `winnow train --json`
// Out       {"top1": 0.91, "loss": 0.31, "steps": 7030, "seconds": 12.5, "peak_bytes": 135843840,
//           "disk_bytes": 4194304, "classes": [[right, images], ...]}, by class of the cache
// Diverged  A loss on the images that it is judged on which is not finite is a failure: the last
//           steps led to it, and none after them could say so.
Outcome outcome_of_run(const Claim& claim, const JsonReader& printed);

// Of all files in a folder and in those in it.
std::uint64_t bytes_below(const std::filesystem::path& folder);

// What it took. Nothing: it failed, or an earlier version kept it, which did not say.
std::optional<RunCost> cost_of(const Outcome& outcome);

}  // namespace winnow::app
