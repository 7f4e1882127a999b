#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds PyTorch's Conv2d with `groups`, with PyTorch's parameter names. With as many groups as x has
// channels, it is a depthwise convolution.
// Throws  ShapeError if the number of groups does not divide the numbers of channels and filters.
ValueId grouped_conv(NetBuilder& net, const std::string& name, ValueId x,
                     const NetBuilder::Conv& conv, int groups);

// As grouped_conv(), but adds a plain convolution if `groups` is 1.
ValueId conv_in_groups(NetBuilder& net, const std::string& name, ValueId x,
                       const NetBuilder::Conv& conv, int groups);

}  // namespace winnow::train
