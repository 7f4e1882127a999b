#pragma once

#include "train/backend/lower/activation_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Arguments of the kernel of an activation node, for both the forward and the backward pass.
Fill<kernels::Activate> activation_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
