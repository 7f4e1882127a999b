#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint/safetensors.h"
#include "train/model/model.h"

namespace winnow::train {

// As torchvision's state_dict: parameters, running statistics and num_batches_tracked (`steps`).
std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps);
// The moving averages, likewise; empty where there are none.
std::vector<NamedTensor> to_ema_state_dict(const Model& model, std::int64_t steps);
// The optimiser's state of every parameter: "momentum.<parameter>", a tensor for each slot;
// "lookahead.<parameter>" where there is one.
std::vector<NamedTensor> to_optimizer_state(const Model& model);

// A model of the graph's tensors with these numbers, or as below. Takes no memory for a tensor
// whose numbers are not there.
Model model_of(const Graph& graph, const std::vector<NamedTensor>& tensors,
               const std::string& where);

// Overwrites the model's numbers. Every tensor must be there with its shape; FormatError names the
// first that is not.
void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where);
void load_ema_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                         const std::string& where);
void load_optimizer_state(Model& model, const std::vector<NamedTensor>& tensors,
                          const std::string& where);

}  // namespace winnow::train
