#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/sampler.h"
#include "train/nets/losses.h"

namespace winnow::train {

// Reads the labels of samples for a sigmoid loss, if any sample has none or several labels;
// otherwise returns nullopt.
//
// what      Kind of samples for messages, such as "training images".
// label_of  As for read_labels().
// Throws    UsageError: a sample has no label, unless loss.allow_unlabelled treats it as an image
//           of no class; or loss.allow_unlabelled with a loss that is not a sigmoid one.
std::optional<pipeline::SampleLabels> several_labels(const pipeline::Cache& cache,
                                                     const std::vector<SampleId>& ids,
                                                     const LossOptions& loss,
                                                     const std::string& what,
                                                     const std::vector<std::int32_t>& label_of);

}  // namespace winnow::train
