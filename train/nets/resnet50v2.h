#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// He et al., "Identity mappings in deep residual networks" (ECCV 2016): ResNet-50 with batch norm
// and ReLU before each convolution, and once more behind the last block. Layers are named as
// torchvision names those of its ResNets, the last batch norm "norm".
Graph make_resnet50v2(const NetOptions& options);

}  // namespace winnow::train
