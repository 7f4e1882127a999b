#pragma once

#include "train/backend/lower/node_arguments.h"
#include "train/backend/lower/scale_kernels.h"

namespace winnow::train {

Fill<kernels::Scale> scale_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::ScaleFactorGradient> scale_factor_gradient_arguments(ValuePlaces& places,
                                                                   const Node& node,
                                                                   Slots::Id scratch);

}  // namespace winnow::train
