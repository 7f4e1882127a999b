#pragma once

#include "common/comm/communicator.h"
#include "common/sample.h"
#include "train/evaluate/evaluate.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Evaluates the weights in `engine` on one split of the cache.
// threads     Number of decoding threads.
// Collective  No loader may prepare batches meanwhile.
Evaluation evaluate_split(const Job& job, int threads, Engine& engine, comm::Communicator& comm,
                          Split split);

}  // namespace winnow::train
