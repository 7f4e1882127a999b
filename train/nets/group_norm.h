#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds PyTorch's GroupNorm(groups, channels of x), with PyTorch's parameter names.
ValueId group_norm(NetBuilder& net, const std::string& name, ValueId x, int groups);

}  // namespace winnow::train
