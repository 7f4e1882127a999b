#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Tan and Le, "EfficientNet" (ICML 2019): B0 as torchvision has it, with dropout and drop path.
Graph make_efficientnet_b0(const NetOptions& options);

}  // namespace winnow::train
