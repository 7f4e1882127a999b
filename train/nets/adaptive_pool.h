#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's AdaptiveAvgPool2d(side), for sizes at which all its windows are equal.
// Supported  Sides that are multiples of `side`, or equal `side` + 1.
// Smaller    Smaller maps are returned unchanged. So nets for large images accept small ones; their
//            linear layers become smaller.
// Errors     ShapeError for other sides.
ValueId adaptive_average_pool(NetBuilder& net, const std::string& name, ValueId x, int side);

}  // namespace winnow::train
