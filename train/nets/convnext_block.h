#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// What ConvNeXts are made of (Liu et al. 2022), named and begun as torchvision's.
inline constexpr double kConvnextEpsilon = 1e-6;

// A depthwise 7x7 convolution, layer norm, and two linear layers with a GELU between them, the
// first four times as wide, beside a shortcut. `drop_rate` is of the drop path.
ValueId convnext_block(NetBuilder& net, const std::string& name, ValueId x, double drop_rate);

}  // namespace winnow::train
