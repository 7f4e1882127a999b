#include "train/optim/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "common/error.h"

namespace winnow::train {
namespace {

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

constexpr std::array kOptimizers{
    Optimizer{"sgd", "stochastic gradient descent with (Nesterov) momentum", UpdateKind::kSgd,
              &sgd_step},
    Optimizer{"lars", "layer-wise adaptive rates for large batches (You et al. 2017)",
              UpdateKind::kLars, &lars_step},
};

}  // namespace

void sgd_step(const ParameterUpdate& p, double lr, const OptimizerOptions& options) {
  const auto rate = static_cast<float>(lr);
  const auto mu = static_cast<float>(options.momentum);
  const auto wd = static_cast<float>(p.decay ? options.weight_decay : 0.0);
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    const float g = p.gradient[i] + wd * p.value[i];
    p.momentum[i] = mu * p.momentum[i] + g;
    p.value[i] -= rate * (options.nesterov ? g + mu * p.momentum[i] : p.momentum[i]);
  }
}

void lars_step(const ParameterUpdate& p, double lr, const OptimizerOptions& options) {
  double local = 1;
  if (p.decay) {
    const double w = norm(p.value);
    const double g = norm(p.gradient);
    if (w > 0 && g > 0) local = options.lars_trust * w / (g + options.weight_decay * w);
  }
  const auto rate = static_cast<float>(lr * local);
  const auto mu = static_cast<float>(options.momentum);
  const auto wd = static_cast<float>(p.decay ? options.weight_decay : 0.0);
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    p.momentum[i] = mu * p.momentum[i] + rate * (p.gradient[i] + wd * p.value[i]);
    p.value[i] -= p.momentum[i];
  }
}

std::span<const Optimizer> optimizers() { return kOptimizers; }

const Optimizer& find_optimizer(std::string_view name) {
  std::string known;
  for (const Optimizer& row : kOptimizers) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("unknown optimizer '" + std::string(name) + "'; known: " + known);
}

const Optimizer& find_optimizer(UpdateKind kind) {
  return *std::ranges::find(kOptimizers, kind, &Optimizer::kind);  // each has its row
}

}  // namespace winnow::train
