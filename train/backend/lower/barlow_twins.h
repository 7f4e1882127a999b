#pragma once

#include "train/backend/lower/barlow_twins_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

Fill<kernels::BarlowTwins> barlow_twins_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::BarlowTwins> barlow_twins_backward_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
