#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds a layer norm over the channels of each pixel: PyTorch's LayerNorm(channels) for data with
// channels last, with PyTorch's parameter names.
ValueId layer_norm(NetBuilder& net, const std::string& name, ValueId x, double epsilon);

}  // namespace winnow::train
