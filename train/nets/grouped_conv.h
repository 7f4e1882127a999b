#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's Conv2d with `groups`, with its parameter names. As many groups as channels of x:
// depthwise.
// Throws ShapeError if the groups do not divide channels and filters.
ValueId grouped_conv(NetBuilder& net, const std::string& name, ValueId x,
                     const NetBuilder::Conv& conv, int groups);

// As grouped_conv(), but a plain convolution if there is one group.
ValueId conv_in_groups(NetBuilder& net, const std::string& name, ValueId x,
                       const NetBuilder::Conv& conv, int groups);

}  // namespace winnow::train
