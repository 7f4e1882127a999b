#pragma once

#include "train/backend/lower/kernel_arguments.h"
#include "train/ops/activation_kind.h"

// Arguments of activation kernels, see train/ops/activation.h.
namespace winnow::train::kernels {

struct Activate {
  ActivationKind kind;
  Elementwise of;  // a: x -> y; backward: a: x, b: dy -> y: dx
};

}  // namespace winnow::train::kernels
