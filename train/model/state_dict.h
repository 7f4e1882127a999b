#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint/safetensors.h"
#include "train/model/model.h"

namespace winnow::train {

// Returns the model's numbers as torchvision's state_dict: parameters, running statistics, and
// num_batches_tracked (= `steps`).
std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps);
// As to_state_dict(), for the moving averages of the weights; empty if there are none.
std::vector<NamedTensor> to_ema_state_dict(const Model& model, std::int64_t steps);
// Returns the optimiser's state of all parameters: tensors named "<slot>.<parameter>", such as
// "momentum.fc.bias", and "lookahead.<parameter>" if there are slow weights.
std::vector<NamedTensor> to_optimizer_state(const Model& model);

// Returns a model with the graph's tensors and the given numbers, as load_state_dict() takes them.
// Allocates nothing for tensors without numbers.
Model model_of(const Graph& graph, const std::vector<NamedTensor>& tensors,
               const std::string& where);

// The functions below overwrite the model's numbers. Every tensor must be present with its shape;
// otherwise FormatError names `where` and the first that is not.
void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where);
void load_ema_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                         const std::string& where);
void load_optimizer_state(Model& model, const std::vector<NamedTensor>& tensors,
                          const std::string& where);

}  // namespace winnow::train
