#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2: 20 layers of
// width 16, 32, 64 for small images. Where the shape changes, the shortcut is a 1x1 convolution
// with batch norm (option B), and layers are named as torchvision names those of its ResNets.
Graph make_resnet20(const NetOptions& options);

}  // namespace winnow::train
