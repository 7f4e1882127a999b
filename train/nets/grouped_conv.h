#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's Conv2d with `groups`, with its names of parameters. As many groups as x has channels:
// depthwise. Throws ShapeError when the groups do not divide channels and filters.
ValueId grouped_conv(NetBuilder& net, const std::string& name, ValueId x,
                     const NetBuilder::Conv& conv, int groups);

// The same; a plain convolution where there is one group.
ValueId conv_in_groups(NetBuilder& net, const std::string& name, ValueId x,
                       const NetBuilder::Conv& conv, int groups);

}  // namespace winnow::train
