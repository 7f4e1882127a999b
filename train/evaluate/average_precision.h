#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// The average precision of each class: of the samples in the order of their logits for it, the sum
// over the logits that occur of precision times what recall grows by, as scikit-learn's
// average_precision_score. Samples of equal logits come in together; one that is not a number comes
// last. None for a class that no sample has.
//
// logits   (N, classes), labels: of N samples.
// Pure.
std::vector<std::optional<double>> average_precisions(std::span<const float> logits,
                                                      const pipeline::SampleLabels& labels,
                                                      std::size_t classes);

// Over the classes that have one; none where no class has.
std::optional<double> mean_of(std::span<const std::optional<double>> precisions);

}  // namespace winnow::train
