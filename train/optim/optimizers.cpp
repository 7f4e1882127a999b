#include <array>
#include <cmath>
#include <string>

#include "common/row_called.h"
#include "train/optim/optimizer.h"
#include "train/optim/rules.h"

namespace winnow::train {
namespace {

// Access to the elements of a tensor's state, by slot.
template <class Rule>
struct StateOf {
  static constexpr std::size_t kSlots = Rule::kSlots.size();
  std::array<float*, kSlots> slots;

  explicit StateOf(const ParameterUpdate& p) {
    for (std::size_t k = 0; k < kSlots; ++k) slots[k] = p.state[k].data();
  }
  std::array<float, kSlots> at(std::size_t i) const {
    std::array<float, kSlots> state;
    for (std::size_t k = 0; k < kSlots; ++k) state[k] = slots[k][i];
    return state;
  }
  void put(std::size_t i, const std::array<float, kSlots>& state) const {
    for (std::size_t k = 0; k < kSlots; ++k) slots[k][i] = state[k];
  }
};

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

// Updates the state of the tensor, and returns the norm of the resulting directions.
template <class Rule>
double accumulate(const typename Rule::Factors& factors, const ParameterUpdate& p,
                  const StateOf<Rule>& state) {
  double sum = 0;
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    auto now = state.at(i);
    Rule::accumulate(factors, p.gradient[i], now.data());
    state.put(i, now);
    const double direction = Rule::direction(factors, p.value[i], now.data());
    sum += direction * direction;
  }
  return std::sqrt(sum);
}

template <class Rule>
void update_tensor(const Rule& rule, const ParameterUpdate& p) {
  const StateOf<Rule> state(p);
  TensorStep step = p.step;
  if constexpr (HasDirection<Rule>) {
    step.direction_norm = accumulate<Rule>(rule.factors(step), p, state);
    if (rule.needs_norms(step.decay)) step.value_norm = norm(p.value);
  } else if (rule.needs_norms(step.decay)) {
    step.value_norm = norm(p.value);
    step.gradient_norm = norm(p.gradient);
  }
  const typename Rule::Factors factors = rule.factors(step);
  float* const values = p.value.data();
  const float* const gradients = p.gradient.data();
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    float value = values[i];
    auto now = state.at(i);
    Rule::update(factors, gradients[i], value, now.data());
    values[i] = value;
    state.put(i, now);
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
  return row_called("unknown optimizer", name, kOptimizers);
}

}  // namespace winnow::train
