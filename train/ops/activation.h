#pragma once

#include <string_view>

#include "train/graph/operation.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

// Activation functions other than ReLU, for data of any shape. Same results as PyTorch's. ReLU has
// operations of its own (elementwise.h), because the rewrite `fuse` merges it into other nodes.

struct ActivationAttributes {
  ActivationKind kind = ActivationKind::kRelu6;
};
// Name of an activation function: "relu6", "hard_swish", ...
std::string_view name_of(ActivationKind kind) noexcept;

extern const Operation kActivation;  // x -> y
// Backward pass of an activation: x, dy -> dx, which is dy times the function's derivative at x.
extern const Operation kActivationBackward;

}  // namespace winnow::train
