#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/load/sampler.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// How much more or less a loss counts the samples of a class. Neither given: all alike.
struct ClassWeights {
  bool balanced = false;               // each class as much as any other
  std::map<std::string, double> of{};  // by name; classes that are not here: 1
  bool none() const noexcept { return !balanced && of.empty(); }
};
inline constexpr double kMostClassWeight = 1e6;

// "balanced", or the path of a CSV file of lines class,weight, with that header or without.
// Throws UsageError for a file that is not there, and naming the line: not two fields, a class that
// comes twice, a weight outside [0, kMostClassWeight]. SystemError: the file cannot be read.
ClassWeights parse_class_weights(const std::string& text);

// The factor of each class. Balanced is n / (k * n_c), as scikit-learn has it: n samples in all,
// n_c of class c, k classes that occur; 1 for those that do not. Samples of several labels or none
// are not counted. Throws UsageError for a name that is no class.
std::vector<double> class_factors(const ClassWeights& weights, const SampleLabels& labels,
                                  const std::vector<std::string>& classes);

// Multiplies the weight of every sample by the factor of its class; one of several labels or none
// keeps its own. Leaves out those that weigh 0 then: their class is ignored. `labels` are of
// samples.ids. Throws UsageError when nothing is left.
SampleSet weigh_classes(const SampleSet& samples, const SampleLabels& labels,
                        const std::vector<double>& factors);

}  // namespace winnow::pipeline
