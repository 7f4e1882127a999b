#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds ConvNeXt-T with drop path (stochastic depth), as in torchvision. Images of at least 32 x
// 32 pixels.
// Source  Liu et al., "A ConvNet for the 2020s" (CVPR 2022).
Graph make_convnext_tiny(const NetOptions& options);

}  // namespace winnow::train
