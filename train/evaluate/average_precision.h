#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// Computes the average precision of each class, as scikit-learn's average_precision_score: over
// samples sorted by their logit for the class, the sum of precision times the increase of recall.
// Pure.
//
// logits  (N, classes).
// labels  Those of the N samples.
// Ties    Samples with equal logits count together. NaN comes last.
// Out     nullopt for a class that no sample has.
std::vector<std::optional<double>> average_precisions(std::span<const float> logits,
                                                      const pipeline::SampleLabels& labels,
                                                      std::size_t classes);

// Returns the mean over the classes that have a value; nullopt if no class has one.
std::optional<double> mean_of(std::span<const std::optional<double>> precisions);

}  // namespace winnow::train
