#pragma once

#include <string_view>

#include "train/graph/operation.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

// Activations besides the ReLU, which `fuse` knows and which has operations of its own
// (elementwise.h). Of any shape; with PyTorch's meaning.

struct ActivationAttributes {
  ActivationKind kind = ActivationKind::kRelu6;
};
std::string_view name_of(ActivationKind kind) noexcept;  // "relu6", "hard_swish", ...

extern const Operation kActivation;          // x -> y
extern const Operation kActivationBackward;  // x, dy -> dx: dy times the slope at x

}  // namespace winnow::train
