#pragma once

#include <optional>

#include "train/backend/lower/group_norm_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

kernels::GroupNormLayer group_norm_layer(const ValuePlaces& places, const Node& node);

// Arguments of group norm kernels for a node. `layer` describes the node, which may be another kind
// of norm with the same operands.
Fill<kernels::GroupNorm> group_norm_arguments(ValuePlaces& places, const Node& node,
                                              const kernels::GroupNormLayer& layer,
                                              std::optional<Slots::Id> scratch);
Fill<kernels::GroupNormBackward> group_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               const kernels::GroupNormLayer& layer,
                                                               Slots::Id scratch);

}  // namespace winnow::train
