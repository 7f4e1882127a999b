#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"
#include "train/nets/losses.h"

namespace winnow::train {

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
