#pragma once

#include <cstdint>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// A linear layer at each pixel: PyTorch's Linear(channels, features) for data with channels last,
// with its parameter names and shapes. It is a 1x1 convolution whose filter has two extents.
ValueId pointwise(NetBuilder& net, const std::string& name, ValueId x, std::int64_t features,
                  const NetBuilder::Linear& linear);

}  // namespace winnow::train
