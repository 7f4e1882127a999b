#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/sample.h"
#include "pipeline/load/sampler.h"
#include "train/evaluate/evaluate.h"
#include "train/nets/losses.h"
#include "train/run/engine.h"
#include "train/run/job.h"
#include "train/run/options.h"

namespace winnow::train {

// Evaluates the numbers that `engine` has on a split that the cache has. Collective; no loader
// prepares batches meanwhile. `threads` decode.
Evaluation evaluate_split(const Job& job, int threads, Engine& engine, comm::Communicator& comm,
                          Split split);

// The labels of samples, for a loss of each class's sigmoid, where one sample has none or several;
// else none. `what`: what the samples are, as "training images"; `label_of` as read_labels().
//
// Throws   UsageError: a sample has no label, and loss.allow_unlabelled does not take it for an
//          image of no class; or it does, and the loss is none of sigmoids.
std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const LossOptions& loss,
                                                     const std::string& what,
                                                     const std::vector<std::int32_t>& label_of);

}  // namespace winnow::train
