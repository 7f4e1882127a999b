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

// The numbers of a net: parameters with the optimiser's state, and running statistics. Owns them;
// programs access them through a WeightStore.
struct Model {
  struct Tensor {
    Value about;
    std::vector<float> data;
    std::vector<std::vector<float>> state;  // the optimiser's, see `slots`; for parameters only
    double lr_scale = 1;                    // learning-rate multiplier; 0: frozen
    std::vector<float> slow{};              // lookahead weights, see averaging.h; empty: none
    std::vector<float> ema{};  // moving average, also of running statistics; empty: none
  };
  std::vector<Tensor> tensors;     // parameters and running statistics, in the graph's order
  std::vector<std::string> slots;  // names of the vectors of Tensor::state, such as "momentum"
  // Class names in UTF-8, in the order of the outputs. Empty: unknown, or the net has no classes.
  std::vector<std::string> classes{};

  Tensor& find(const std::string& name);                // Error naming it if it is missing
  std::size_t index_of(const std::string& name) const;  // the same
  std::int64_t parameter_count() const;
};

// The net's tensors with the values that `initial` returns, without optimiser state.
Model make_model(const Graph& graph,
                 const std::function<std::vector<float>(const Value&)>& initial);
inline Model make_model(const Graph& graph, std::uint64_t seed) {
  return make_model(graph, [seed](const Value& value) { return initial_value(value, seed); });
}

// Gives each parameter a state of zeros: a vector for each slot of the optimiser.
void allocate_state(Model& model, std::span<const std::string_view> slots);

// Starts the weight averages that these options ask for, from the current tensors. Call it again
// after any change of a tensor other than a step.
// Existing averages stay in place, because a backend's weights are views of them.
void begin_averages(Model& model, const OptionValues& options);

// Name of the first tensor whose numbers, or averages, are not all finite; empty if there is none.
std::string first_not_finite(const Model& model);

// Swaps the weights with their moving averages, which must exist.
void swap_ema(Model& model);

// Views of the model's tensors, in their order. The tensors must not move or grow from then on.
std::vector<WeightTensor> weight_tensors(Model& model);

// Puts the weights where `backend` wants them, with the optimiser state that `rule` needs, set to
// zero, and the averages of its options. Without an optimiser they are for evaluation only.
// The model must outlive the store.
std::unique_ptr<WeightStore> place_weights(Backend& backend, Model& model,
                                           const UpdateRule& rule = {});

}  // namespace winnow::train
