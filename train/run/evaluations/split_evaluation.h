#pragma once

#include "common/comm/communicator.h"
#include "common/sample.h"
#include "train/evaluate/evaluate.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Evaluates the numbers that `engine` has on a split that the cache has. Collective; no loader
// prepares batches meanwhile. `threads` decode.
Evaluation evaluate_split(const Job& job, int threads, Engine& engine, comm::Communicator& comm,
                          Split split);

}  // namespace winnow::train
