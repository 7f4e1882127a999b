#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2: 20 layers of
// width 16, 32, 64 for small images. Where the shape changes, the shortcut is a 1x1 convolution
// with batch norm (option B), and layers are named as torchvision names those of its ResNets.
Graph make_resnet20(const NetOptions& options);

// The same paper's section 4.1: 50 layers of bottleneck blocks, as torchvision has it, which
// strides in the 3x3 convolution of a block ("v1.5").
Graph make_resnet50(const NetOptions& options);

}  // namespace winnow::train
