#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds EfficientNet-B0 with dropout and drop path (stochastic depth), as in torchvision.
// Source  Tan and Le, "EfficientNet" (ICML 2019).
Graph make_efficientnet_b0(const NetOptions& options);

}  // namespace winnow::train
