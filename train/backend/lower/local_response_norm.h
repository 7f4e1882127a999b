#pragma once

#include "train/backend/lower/local_response_norm_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Arguments of the kernel of a local response norm node, for both the forward and the backward
// pass.
Fill<kernels::LocalResponseNorm> local_response_norm_arguments(ValuePlaces& places,
                                                               const Node& node);

}  // namespace winnow::train
