#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "train/optim/options.h"
#include "train/optim/rule.h"

namespace winnow::train {

// One parameter tensor in one step, in the host's memory. All spans have one length. `gradient` is
// that of the mean loss of the global batch, summed over ranks.
struct ParameterUpdate {
  std::span<float> value;
  std::span<const float> gradient;
  std::span<const std::span<float>> state;  // one for each slot of the optimiser
  TensorStep step{};                        // norms are not read: they are computed here
};

// Changes value and state in place by one step. Norms are sums in double over the whole tensor, in
// the order of its elements. For different tensors from several threads.
using UpdateFunction = std::function<void(const ParameterUpdate& parameter)>;

// A row of the table of optimisers, made from a rule (rule.h).
struct Optimizer {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  std::span<const std::string_view> slots;  // names of the vectors of state of a parameter
  UpdateFunction (*make)(const ChosenOptions& chosen);
};

std::span<const Optimizer> optimizers();
const Optimizer& find_optimizer(std::string_view name);  // UsageError naming the known ones

// The optimiser of a run, with its options.
struct UpdateRule {
  const Optimizer* optimizer = nullptr;  // null: nothing is ever updated
  OptionValues options{};
  std::int64_t steps = 1;  // of the run
};

}  // namespace winnow::train
