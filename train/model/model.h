#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// The numbers of a net: parameters with their momenta, and running statistics. Owns them; programs
// read them by way of Weights.
struct Model {
  struct Tensor {
    Value about;
    std::vector<float> data;
    std::vector<float> momentum;  // parameters only
    double rate = 1;              // factor on the learning rate; 0: frozen
  };
  std::vector<Tensor> tensors;  // parameters and states in the graph's order

  Tensor& find(const std::string& name);                // Error naming it
  std::size_t index_of(const std::string& name) const;  // likewise
  std::int64_t parameter_count() const;
};

// The net's tensors with what `initial` says of each, momenta zero.
Model make_model(const Graph& graph,
                 const std::function<std::vector<float>(const Value&)>& initial);
inline Model make_model(const Graph& graph, std::uint64_t seed) {
  return make_model(graph, [seed](const Value& value) { return initial_value(value, seed); });
}

// Its tensors in their order, which must neither move nor grow from now on.
std::vector<WeightTensor> weight_tensors(Model& model);

// Where `backend` wants them. The model must outlive it.
std::unique_ptr<Weights> place_weights(Backend& backend, Model& model, const UpdateRule& rule = {});

}  // namespace winnow::train
