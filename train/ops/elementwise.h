#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Operations that compute each element from the elements at the same position. For any shape.

extern const Operation kRelu;          // x -> y
extern const Operation kReluBackward;  // y, dy -> dx: dy where y > 0
extern const Operation kAdd;           // a, b -> y

}  // namespace winnow::train
