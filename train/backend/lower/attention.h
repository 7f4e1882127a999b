#pragma once

#include "train/backend/lower/attention_kernels.h"
#include "train/backend/lower/value_places.h"

namespace winnow::train {

// Of kAttention or its backward, which have x first.
kernels::AttentionLayer attention_layer(const ValuePlaces& places, const Node& node);

}  // namespace winnow::train
