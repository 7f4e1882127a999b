#pragma once

#include "train/backend/lower/attention_kernels.h"
#include "train/backend/lower/value_places.h"

namespace winnow::train {

// Description of a kAttention node or its backward node; x is the first input of both.
kernels::AttentionLayer attention_layer(const ValuePlaces& places, const Node& node);

}  // namespace winnow::train
