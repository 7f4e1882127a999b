#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's GroupNorm(groups, channels of x), with its parameter names.
ValueId group_norm(NetBuilder& net, const std::string& name, ValueId x, int groups);

}  // namespace winnow::train
