#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Over the channels of each pixel: PyTorch's LayerNorm(channels) of data whose channels come last,
// with its names of parameters.
ValueId layer_norm(NetBuilder& net, const std::string& name, ValueId x, double epsilon);

}  // namespace winnow::train
