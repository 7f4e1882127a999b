#pragma once

#include <span>
#include <string_view>

#include "train/backend/weights.h"

namespace winnow::train {

// One parameter tensor and what belongs to it, all of one length. `gradient` is that of the mean
// loss of the global batch, already summed over ranks.
struct ParameterUpdate {
  std::span<float> value;
  std::span<const float> gradient;
  std::span<float> momentum;  // zero before the first step
  bool decay = true;          // false for biases and batch norm: no weight decay, no LARS scaling
};

// Changes value and momentum in place by one step at learning rate `lr`. Pure but for its operands;
// norms are taken in double over the whole tensor.
struct Optimizer {
  std::string_view name;
  std::string_view what;
  UpdateKind kind;
  void (*step)(const ParameterUpdate& parameter, double lr, const OptimizerOptions& options);
};

// SGD as PyTorch's: v = mu v + g + wd w; w -= lr (g + wd w + mu v) with Nesterov, else lr v.
void sgd_step(const ParameterUpdate& parameter, double lr, const OptimizerOptions& options);

// Layer-wise Adaptive Rate Scaling, You, Gitman and Ginsburg 2017, arXiv:1708.03888, Algorithm 1:
//   local = eta |w| / (|g| + wd |w|)     (1 when |w| or |g| is 0)
//   v     = mu v + lr local (g + wd w);  w -= v
// Parameters without decay take local = 1 and wd = 0.
void lars_step(const ParameterUpdate& parameter, double lr, const OptimizerOptions& options);

std::span<const Optimizer> optimizers();
const Optimizer& find_optimizer(std::string_view name);  // UsageError naming the known ones
const Optimizer& find_optimizer(UpdateKind kind);

}  // namespace winnow::train
