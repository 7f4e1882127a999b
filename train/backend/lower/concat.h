#pragma once

#include <vector>

#include "train/backend/lower/copy_channels_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

std::vector<Fill<kernels::CopyChannels>> concat_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::CopyChannels> slice_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
