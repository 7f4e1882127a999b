#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Operations that compute each element from the elements at the same position, for any shape.

extern const Operation kRelu;          // x -> y
extern const Operation kReluBackward;  // inputs y, dy -> output dx: dy where y > 0, else 0
extern const Operation kAdd;           // a, b -> y

}  // namespace winnow::train
