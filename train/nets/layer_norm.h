#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Layer norm over the channels of each pixel: PyTorch's LayerNorm(channels) for data with channels
// last, with its parameter names.
ValueId layer_norm(NetBuilder& net, const std::string& name, ValueId x, double epsilon);

}  // namespace winnow::train
