#pragma once

#include "train/backend/lower/activation_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// For forward and backward.
Fill<kernels::Activate> activation_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
