#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds ResNet-50 with batch norm and ReLU before each convolution, and once more after the last
// block. Layers are named as in torchvision's ResNets; the last batch norm is "norm".
// Source  He et al., "Identity mappings in deep residual networks" (ECCV 2016).
Graph make_resnet50v2(const NetOptions& options);

}  // namespace winnow::train
