#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// What residual nets with batch norm and ReLU before each convolution are made of (He et al.,
// "Identity mappings in deep residual networks", ECCV 2016). Where a block changes the shape, its
// shortcut is a 1x1 convolution of its first activation, without batch norm.

// Layers "<name>.bn1", ".conv1" and so on; 3x3 convolutions.
ValueId preactivated_basic_block(NetBuilder& net, const std::string& name, ValueId x,
                                 std::int64_t width, int stride);

// 1x1 down to `width`, 3x3 with the stride, 1x1 up to four times it.
ValueId preactivated_bottleneck(NetBuilder& net, const std::string& name, ValueId x,
                                std::int64_t width, int stride);

}  // namespace winnow::train
