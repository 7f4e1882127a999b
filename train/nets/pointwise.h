#pragma once

#include <cstdint>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's Linear(channels, features) at each pixel of data whose channels come last, with its
// names and shapes of parameters: a 1x1 convolution whose filter has two extents.
ValueId pointwise(NetBuilder& net, const std::string& name, ValueId x, std::int64_t features,
                  const NetBuilder::Linear& linear);

}  // namespace winnow::train
