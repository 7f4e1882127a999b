#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/experiment/sweep_cost.h"
#include "common/json_reader.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// Converts the result of a training run to the outcome that the job queue stores.
//
// printed   object that `winnow train --json` printed
// Out       {"top1": 0.91, "loss": 0.31, "steps": 7030, "seconds": 12.5, "peak_bytes": 135843840,
//           "disk_bytes": 4194304, "classes": [[right, images], ...], "right": "f07e...",
//           "program": "5d41...", "machine": "AMD EPYC 9R14, 2 cores, AVX-512"}. `classes` are
//           those of the cache, `right` as in StoredEvaluation, `program` a digest of this
//           executable.
// Diverged  A loss on the evaluated images that is not finite makes the run a failure. The last
//           steps may have diverged without any later training loss that shows it.
Outcome outcome_of_run(const Claim& claim, const JsonReader& printed);

// Size in bytes of all files below a folder.
std::uint64_t bytes_below(const std::filesystem::path& folder);

// The cost of a run. Nullopt: it failed, or was stored by an earlier version without its cost.
std::optional<RunCost> cost_of(const Outcome& outcome);

}  // namespace winnow::app
