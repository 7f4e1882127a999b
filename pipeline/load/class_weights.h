#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/load/sampler.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// Weights of classes in the loss. Empty: all classes have weight 1.
struct ClassWeights {
  bool balanced = false;               // all classes get the same total weight
  std::map<std::string, double> of{};  // weight by class name; 1 if not listed
  bool none() const noexcept { return !balanced && of.empty(); }
};
inline constexpr double kMostClassWeight = 1e6;

// Parses "balanced", or reads a CSV file with lines class,weight, with or without that header.
// Errors  UsageError: no such file; or, naming the line, not two fields, a repeated class, a weight
//         outside [0, kMostClassWeight]. SystemError: the file cannot be read.
ClassWeights parse_class_weights(const std::string& text);

// The weight factor of each class. Balanced: n / (k * n_c), as in scikit-learn, with n samples, n_c
// of them of class c, and k classes that occur; 1 for other classes. Samples with several labels,
// or with none, are not counted.
// Errors  UsageError for an unknown class name.
std::vector<double> class_factors(const ClassWeights& weights, const SampleLabels& labels,
                                  const std::vector<std::string>& classes);

// Multiplies the weight of each sample by the factor of its class. Samples with several labels, or
// with none, are unchanged. Samples whose weight becomes 0 are removed.
// labels  labels of samples.ids
// Errors  UsageError if no sample is left.
SampleSet weigh_classes(const SampleSet& samples, const SampleLabels& labels,
                        const std::vector<double>& factors);

}  // namespace winnow::pipeline
