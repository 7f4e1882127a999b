#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds PyTorch's AdaptiveAvgPool2d(side), for input sizes at which all its windows have equal size.
// Supported  Input sides that are multiples of `side`, or equal to `side` + 1.
// Smaller    Smaller maps are returned unchanged, so nets for large images accept small ones; their
//            linear layers become smaller.
// Errors     ShapeError for other sides.
ValueId adaptive_average_pool(NetBuilder& net, const std::string& name, ValueId x, int side);

}  // namespace winnow::train
