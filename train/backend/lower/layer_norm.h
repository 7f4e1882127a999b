#pragma once

#include <optional>

#include "train/backend/lower/group_norm_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Describes a layer norm as a group norm: each pixel is a sample of one pixel, with one group of
// all channels.
kernels::GroupNormLayer layer_norm_layer(const ValuePlaces& places, const Node& node);

Fill<kernels::GroupNorm> layer_norm_arguments(ValuePlaces& places, const Node& node,
                                              std::optional<Slots::Id> scratch);
Fill<kernels::GroupNormBackward> layer_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node, Slots::Id scratch);

}  // namespace winnow::train
