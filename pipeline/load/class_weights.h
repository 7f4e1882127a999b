#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/load/sampler.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// Class weights of a loss. Empty: all equal.
struct ClassWeights {
  bool balanced = false;               // every class has the same total weight
  std::map<std::string, double> of{};  // by name; default 1
  bool none() const noexcept { return !balanced && of.empty(); }
};
inline constexpr double kMostClassWeight = 1e6;

// Parses "balanced", or the path of a CSV file of lines class,weight, with or without that header.
// Errors  UsageError: no such file; naming the line: not two fields, a repeated class, a weight
//         outside [0, kMostClassWeight]. SystemError: unreadable.
ClassWeights parse_class_weights(const std::string& text);

// The factor of each class. Balanced: n / (k * n_c), as in scikit-learn, with n samples, n_c of
// class c, and k classes that occur; 1 for classes that do not. Samples with several labels or none
// do not count.
// Errors  UsageError for an unknown class name.
std::vector<double> class_factors(const ClassWeights& weights, const SampleLabels& labels,
                                  const std::vector<std::string>& classes);

// Multiplies each sample's weight by the factor of its class; samples with several labels or none
// are unchanged. Samples with weight 0 are left out: their class is ignored.
// labels  Of samples.ids.
// Errors  UsageError if nothing is left.
SampleSet weigh_classes(const SampleSet& samples, const SampleLabels& labels,
                        const std::vector<double>& factors);

}  // namespace winnow::pipeline
