#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Parts of ConvNeXts (Liu et al. 2022), with torchvision's names and initial values.
inline constexpr double kConvnextEpsilon = 1e-6;

// Adds a residual block: depthwise 7x7 convolution, layer norm, a linear layer to four times the
// width, GELU, and a linear layer back. `drop_rate`: probability of drop path (stochastic depth).
ValueId convnext_block(NetBuilder& net, const std::string& name, ValueId x, double drop_rate);

}  // namespace winnow::train
