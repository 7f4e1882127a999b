#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "train/optim/options.h"
#include "train/optim/rule.h"

namespace winnow::train {

// One parameter tensor in one step, in host memory. All spans have equal lengths. `gradient` is
// that of the global batch's mean loss, summed over ranks.
struct ParameterUpdate {
  std::span<float> value;
  std::span<const float> gradient;
  std::span<const std::span<float>> state;  // one for each slot of the optimiser
  TensorStep step{};                        // its norms are not read; they are computed here
};

// Updates value and state in place by one step. Norms are sums in double over the whole tensor, in
// element order.
// Threads may update different tensors at the same time.
using UpdateFunction = std::function<void(const ParameterUpdate& parameter)>;

// A row of the table of optimisers, generated from a rule (rule.h).
struct Optimizer {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  std::span<const std::string_view> slots;  // names of a parameter's state vectors
  UpdateFunction (*make)(const ChosenOptions& chosen);
};

std::span<const Optimizer> optimizers();
const Optimizer& find_optimizer(std::string_view name);  // UsageError naming the known ones

// The optimiser of a run, with its options.
struct UpdateRule {
  const Optimizer* optimizer = nullptr;  // nullptr: nothing is updated
  OptionValues options{};
  std::int64_t steps = 1;  // in the run
};

}  // namespace winnow::train
