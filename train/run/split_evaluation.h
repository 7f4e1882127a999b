#pragma once

#include <optional>

#include "common/comm/communicator.h"
#include "train/evaluate/evaluate.h"
#include "train/run/engine.h"
#include "train/run/job.h"
#include "train/run/options.h"

namespace winnow::train {

// Evaluates the numbers that `engine` has on one split. None where the cache has no such split.
// Collective; no loader prepares batches meanwhile.
std::optional<Evaluation> evaluate_split(const Job& job, const TrainOptions& options,
                                         Engine& engine, comm::Communicator& comm, Split split);

}  // namespace winnow::train
