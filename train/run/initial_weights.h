#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/graph/graph.h"
#include "train/run/model.h"

namespace winnow::train {

// How strongly tensors whose name matches `pattern` are trained: "layer1.*", 0.1. `*` stands for
// any characters. A factor of 0 freezes: neither gradient, weight decay nor momentum moves a
// parameter, and running statistics stay. Of several rules that match, the last holds.
struct RateRule {
  std::string pattern;
  double factor = 1;
};

// Sets Model::Tensor::rate. Throws UsageError for a rule that matches nothing, naming it, and when
// nothing is left to train.
void apply_rates(Model& model, const std::vector<RateRule>& rules);

// Overwrites `model` with the tensors of a safetensors file, torchvision's names. Where the net's
// classifier (the parameters of its last fully connected layer) has another shape in the file, it
// keeps its initial values: it is for other classes. Returns the names of the tensors so kept.
// Tensors the net does not have are left alone. Throws UsageError naming the first that is missing
// or has another shape, FormatError for a damaged file.
std::vector<std::string> load_initial_weights(Model& model, const Graph& graph,
                                              const std::filesystem::path& file);

}  // namespace winnow::train
