#pragma once

#include "train/backend/lower/kernel_arguments.h"
#include "train/ops/activation_kind.h"

// Arguments of the kernels of activation functions, see train/ops/activation.h.
namespace winnow::train::kernels {

struct Activate {
  ActivationKind kind;
  Elementwise of;  // operands: a = x; in the backward pass also b = dy; the result goes to y
};

}  // namespace winnow::train::kernels
