#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Blocks of residual nets with batch norm and ReLU before each convolution (pre-activation). If a
// block changes the shape, its shortcut is a 1x1 convolution of its first activation, without batch
// norm.
// Source  He et al., "Identity mappings in deep residual networks" (ECCV 2016).

// Adds a block of two 3x3 convolutions. Its layers are named "<name>.bn1", "<name>.conv1" and so
// on.
ValueId preactivated_basic_block(NetBuilder& net, const std::string& name, ValueId x,
                                 std::int64_t width, int stride);

// Adds a block of three convolutions: 1x1 down to `width` channels, 3x3 with the stride, 1x1 up to
// four times `width`.
ValueId preactivated_bottleneck(NetBuilder& net, const std::string& name, ValueId x,
                                std::int64_t width, int stride);

}  // namespace winnow::train
