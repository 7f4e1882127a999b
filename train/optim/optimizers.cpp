#include <array>
#include <cmath>
#include <string>

#include "common/error.h"
#include "train/optim/optimizer.h"
#include "train/optim/rules.h"

namespace winnow::train {
namespace {

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

template <class Rule>
void update_tensor(const Rule& rule, const ParameterUpdate& p) {
  constexpr std::size_t kSlots = Rule::kSlots.size();
  TensorStep step = p.step;
  if (rule.needs_norms(step.decay)) {
    step.value_norm = norm(p.value);
    step.gradient_norm = norm(p.gradient);
  }
  const typename Rule::Factors factors = rule.factors(step);
  std::array<float*, kSlots> slots;
  for (std::size_t k = 0; k < kSlots; ++k) slots[k] = p.state[k].data();
  float* const values = p.value.data();
  const float* const gradients = p.gradient.data();
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    float value = values[i];
    std::array<float, kSlots> state;
    for (std::size_t k = 0; k < kSlots; ++k) state[k] = slots[k][i];
    Rule::update(factors, gradients[i], value, state.data());
    values[i] = value;
    for (std::size_t k = 0; k < kSlots; ++k) slots[k][i] = state[k];
  }
}

template <class Rule>
UpdateFunction make_update(const ChosenOptions& chosen) {
  return [rule = Rule::from(chosen)](const ParameterUpdate& p) { update_tensor(rule, p); };
}

template <class... Rule>
constexpr std::array<Optimizer, sizeof...(Rule)> rows(RuleList<Rule...>) {
  return {Optimizer{Rule::kName, Rule::kWhat, Rule::kOptions, Rule::kSlots, &make_update<Rule>}...};
}

constexpr std::array kOptimizers = rows(Rules{});

}  // namespace

std::span<const Optimizer> optimizers() { return kOptimizers; }

const Optimizer& find_optimizer(std::string_view name) {
  std::string known;
  for (const Optimizer& row : kOptimizers) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("unknown optimizer '" + std::string(name) + "'; known: " + known);
}

}  // namespace winnow::train
