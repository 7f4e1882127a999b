#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "train/optim/options.h"
#include "train/optim/rule.h"

namespace winnow::train {

// One parameter tensor in one step, in host memory. All spans have equal lengths. `gradient` is
// that of the global batch's mean loss, already summed over ranks.
struct ParameterUpdate {
  std::span<float> value;
  std::span<const float> gradient;
  // The optimiser's state vectors of this parameter, one for each name in Optimizer::slots.
  std::span<const std::span<float>> state;
  // Step and learning rate; the norms in it are ignored and computed from the tensors.
  TensorStep step{};
};

// Function that updates value and state of one parameter in place by one step. Norms are sums in
// double over the whole tensor, in element order.
// Threads  Several may update different tensors at the same time.
using UpdateFunction = std::function<void(const ParameterUpdate& parameter)>;

// One optimiser: a row of optimizers(), generated from a rule (rule.h).
struct Optimizer {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  // Names of the state vectors that the optimiser keeps for each parameter.
  std::span<const std::string_view> slots;
  UpdateFunction (*make)(const ChosenOptions& chosen);
};

std::span<const Optimizer> optimizers();
// Finds an optimiser by name. Throws UsageError, which names the known optimisers.
const Optimizer& find_optimizer(std::string_view name);

// The optimiser of a run, with its options.
struct UpdateRule {
  const Optimizer* optimizer = nullptr;  // nullptr: nothing is updated
  OptionValues options{};
  std::int64_t steps = 1;  // number of steps of the run
};

}  // namespace winnow::train
