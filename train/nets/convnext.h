#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Liu et al., "A ConvNet for the 2020s" (CVPR 2022): ConvNeXt-T as torchvision has it, with drop
// path. Images of 32 x 32 and more.
Graph make_convnext_tiny(const NetOptions& options);

}  // namespace winnow::train
