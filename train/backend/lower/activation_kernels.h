#pragma once

#include "train/backend/lower/kernel_arguments.h"
#include "train/ops/activation_kind.h"

// Arguments of the kernels of activation functions, see train/ops/activation.h.
namespace winnow::train::kernels {

struct Activate {
  ActivationKind kind;
  Elementwise of;  // forward: y from a = x; backward: y = dx from a = x, b = dy
};

}  // namespace winnow::train::kernels
