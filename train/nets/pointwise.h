#pragma once

#include <cstdint>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds a linear layer that is applied at each pixel: PyTorch's Linear(channels, features) for data
// with channels last, with PyTorch's parameter names and shapes. It is a 1x1 convolution with a
// filter of shape (features, channels).
ValueId pointwise(NetBuilder& net, const std::string& name, ValueId x, std::int64_t features,
                  const NetBuilder::Linear& linear);

}  // namespace winnow::train
