#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/sample.h"
#include "pipeline/load/sampler.h"
#include "train/evaluate/evaluate.h"
#include "train/run/engine.h"
#include "train/run/job.h"
#include "train/run/options.h"

namespace winnow::train {

// Evaluates the numbers that `engine` has on a split that the cache has. Collective; no loader
// prepares batches meanwhile.
Evaluation evaluate_split(const Job& job, const TrainOptions& options, Engine& engine,
                          comm::Communicator& comm, Split split);

// The labels of samples, where that loss takes several and one of them has; else none.
std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const std::string& loss);

}  // namespace winnow::train
