#pragma once

#include <string_view>

#include "train/graph/operation.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

// Activations other than ReLU, for data of any shape. Same results as PyTorch's. ReLU has
// operations of its own (elementwise.h), because `fuse` merges it into others.

struct ActivationAttributes {
  ActivationKind kind = ActivationKind::kRelu6;
};
std::string_view name_of(ActivationKind kind) noexcept;  // "relu6", "hard_swish", ...

extern const Operation kActivation;          // x -> y
extern const Operation kActivationBackward;  // x, dy -> dx: dy times the slope at x

}  // namespace winnow::train
