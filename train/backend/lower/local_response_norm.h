#pragma once

#include "train/backend/lower/local_response_norm_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// For forward and backward.
Fill<kernels::LocalResponseNorm> local_response_norm_arguments(ValuePlaces& places,
                                                               const Node& node);

}  // namespace winnow::train
