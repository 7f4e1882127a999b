#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/backend/backend.h"
#include "train/checkpoint/safetensors.h"
#include "train/graph/graph.h"

namespace winnow::train {

// The numbers of a net: parameters with their momenta, and running statistics. Owns them; programs
// are bound to them by name.
struct Model {
  struct Tensor {
    Value about;
    std::vector<float> data;
    std::vector<float> momentum;  // parameters only
    double rate = 1;              // factor on the learning rate; 0: frozen
  };
  std::vector<Tensor> tensors;  // parameters and states in the graph's order

  Tensor& find(const std::string& name);  // Error naming it
  std::int64_t parameter_count() const;
};

Model make_model(const Graph& graph, std::uint64_t seed);

// Binds every parameter and state that `program` reads. The model must outlive it and not grow.
void bind_model(Program& program, Model& model);

// As torchvision's state_dict: parameters, running statistics and num_batches_tracked (`steps`).
std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps);
std::vector<NamedTensor> to_momenta(const Model& model);

// Overwrites the model's numbers. Every tensor must be there with its shape; FormatError names the
// first that is not.
void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where);
void load_momenta(Model& model, const std::vector<NamedTensor>& tensors, const std::string& where);

}  // namespace winnow::train
