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
// programs read them by way of a WeightStore.
struct Model {
  struct Tensor {
    Value about;
    std::vector<float> data;
    std::vector<std::vector<float>> state;  // the optimiser's, see `slots`; parameters only
    double lr_scale = 1;                    // factor on the learning rate; 0: frozen
    std::vector<float> slow{};              // lookahead's, see averaging.h; empty: none
    std::vector<float> ema{};               // likewise, of running statistics too
  };
  std::vector<Tensor> tensors;     // parameters and running statistics in the graph's order
  std::vector<std::string> slots;  // names of the vectors of Tensor::state: "momentum"
  // What its outputs stand for, UTF-8, in their order; empty: not known, or no classes.
  std::vector<std::string> classes{};

  Tensor& find(const std::string& name);                // Error naming it
  std::size_t index_of(const std::string& name) const;  // likewise
  std::int64_t parameter_count() const;
};

// The net's tensors with what `initial` says of each, without state of an optimiser.
Model make_model(const Graph& graph,
                 const std::function<std::vector<float>(const Value&)>& initial);
inline Model make_model(const Graph& graph, std::uint64_t seed) {
  return make_model(graph, [seed](const Value& value) { return initial_value(value, seed); });
}

// Gives each parameter state of zeros, a vector for each slot of the optimiser.
void allocate_state(Model& model, std::span<const std::string_view> slots);

// Begins the averages that these options ask for, with the tensors as they are: what changes a
// tensor afterwards, other than a step, calls this again. Averages that are there stay in place,
// for weights of a backend are views of them.
void begin_averages(Model& model, const OptionValues& options);

// The first tensor whose numbers, or averages of them, are not all finite; empty: there is none.
std::string first_not_finite(const Model& model);

// Exchanges the weights and their moving averages, which there are.
void swap_ema(Model& model);

// Its tensors in their order, which must neither move nor grow from now on.
std::vector<WeightTensor> weight_tensors(Model& model);

// Puts the weights where `backend` wants them, with the state that the optimiser of `rule` needs,
// zero, and the averages of its options. Without an optimiser they are for evaluation. The model
// must outlive the store.
std::unique_ptr<WeightStore> place_weights(Backend& backend, Model& model,
                                           const UpdateRule& rule = {});

}  // namespace winnow::train
