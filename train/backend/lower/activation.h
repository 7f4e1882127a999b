#pragma once

#include "train/backend/lower/activation_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Forward or backward.
Fill<kernels::Activate> activation_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
