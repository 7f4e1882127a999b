#pragma once

#include "train/backend/lower/dropout_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

Fill<kernels::Dropout> dropout_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
