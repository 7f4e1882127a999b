#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/experiment/sweep_cost.h"
#include "common/json_reader.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// The outcome that a queue keeps of a finished run.
//
// In        `printed`: from `winnow train --json`
// Out       {"top1": 0.91, "loss": 0.31, "steps": 7030, "seconds": 12.5, "peak_bytes": 135843840,
//           "disk_bytes": 4194304, "classes": [[right, images], ...], "right": "f07e...",
//           "program": "5d41...", "machine": "AMD EPYC 9R14, 2 cores, AVX-512"}: classes of the
//           cache, right as StoredEvaluation has it, program a digest of this executable
// Diverged  A loss on the images that it is judged on which is not finite is a failure: the last
//           steps led to it, and none after them could say so.
Outcome outcome_of_run(const Claim& claim, const JsonReader& printed);

// Bytes of all files below a folder.
std::uint64_t bytes_below(const std::filesystem::path& folder);

// The cost of a run. Nullopt: it failed, or an earlier version stored it without a cost.
std::optional<RunCost> cost_of(const Outcome& outcome);

}  // namespace winnow::app
