#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint/safetensors.h"
#include "train/model/model.h"

namespace winnow::train {

// As torchvision's state_dict: parameters, running statistics, and num_batches_tracked (`steps`).
std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps);
// As to_state_dict(), for the moving averages; empty if there are none.
std::vector<NamedTensor> to_ema_state_dict(const Model& model, std::int64_t steps);
// The optimiser's state of all parameters: "momentum.<parameter>", a tensor for each slot, and
// "lookahead.<parameter>" if there is one.
std::vector<NamedTensor> to_optimizer_state(const Model& model);

// A model with the graph's tensors and these numbers, loaded as below. Uses no memory for tensors
// without numbers.
Model model_of(const Graph& graph, const std::vector<NamedTensor>& tensors,
               const std::string& where);

// Overwrite the model's numbers. Every tensor must be present with its shape; FormatError names the
// first that is not.
void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where);
void load_ema_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                         const std::string& where);
void load_optimizer_state(Model& model, const std::vector<NamedTensor>& tensors,
                          const std::string& where);

}  // namespace winnow::train
