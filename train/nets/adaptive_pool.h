#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's AdaptiveAvgPool2d(side), where its windows are all alike: sides that are multiples of
// `side`, or one more than `side`. Maps that are smaller stay as they are, so that nets for large
// images take small ones, with smaller linear layers behind. Throws ShapeError for other sides.
ValueId adaptive_average_pool(NetBuilder& net, const std::string& name, ValueId x, int side);

}  // namespace winnow::train
