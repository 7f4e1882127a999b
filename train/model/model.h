#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// The numbers of a net: parameters with the optimiser's state, and running statistics of batch
// norm. Owns them; programs access them through a WeightStore.
struct Model {
  struct Tensor {
    Value about;
    std::vector<float> data;
    // The optimiser's state vectors, one for each of `slots`; empty for running statistics.
    std::vector<std::vector<float>> state;
    double lr_scale = 1;        // learning-rate multiplier; 0: frozen
    std::vector<float> slow{};  // Lookahead's slow weights, see averaging.h; empty: none
    std::vector<float> ema{};   // moving average of `data`; empty: none
  };
  std::vector<Tensor> tensors;  // parameters and running statistics, in the order of the graph
  // Names of the state vectors in Tensor::state, such as "momentum".
  std::vector<std::string> slots;
  // Class names in UTF-8, in the order of the net's outputs. Empty: unknown, or the net has no
  // classes.
  std::vector<std::string> classes{};

  Tensor& find(const std::string& name);  // finds a tensor by name; throws Error if there is none
  // Index in `tensors` of the tensor of this name. Throws Error, which names the tensor, if it is
  // missing.
  std::size_t index_of(const std::string& name) const;
  std::int64_t parameter_count() const;
};

// Makes a model of the graph's parameters and buffers, with the values that `initial` returns, and
// without optimiser state.
Model make_model(const Graph& graph,
                 const std::function<std::vector<float>(const Value&)>& initial);
inline Model make_model(const Graph& graph, std::uint64_t seed) {
  return make_model(graph, [seed](const Value& value) { return initial_value(value, seed); });
}

// Gives each parameter an optimiser state of zeros: a vector for each of `slots`.
void allocate_state(Model& model, std::span<const std::string_view> slots);

// Starts the averages of weights that `options` ask for, from the current values. Call it again
// whenever tensors were changed by anything other than a step.
// Existing averages keep their memory, because a backend's weights refer to it.
void begin_averages(Model& model, const OptionValues& options);

// Returns the name of the first tensor with a number, or an average, that is NaN or infinite; empty
// if there is none.
std::string first_not_finite(const Model& model);

// Swaps the weights with their moving averages, which must exist.
void swap_ema(Model& model);

// Returns views of the model's tensors, in their order. The tensors must not move or grow as long
// as the views are used.
std::vector<WeightTensor> weight_tensors(Model& model);

// Places the weights where `backend` keeps them (for a GPU, in its memory), with an optimiser state
// of zeros and the averages that `rule` needs. Without an optimiser in `rule`, they are for
// evaluation only.
// Lifetime  The model must outlive the store.
std::unique_ptr<WeightStore> place_weights(Backend& backend, Model& model,
                                           const UpdateRule& rule = {});

}  // namespace winnow::train
