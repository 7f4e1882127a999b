#pragma once

#include "train/backend/lower/local_response_norm_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Forward or backward.
Fill<kernels::LocalResponseNorm> local_response_norm_arguments(ValuePlaces& places,
                                                               const Node& node);

}  // namespace winnow::train
