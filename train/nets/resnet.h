#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds ResNet-20 for small images: 20 layers with widths 16, 32 and 64. Where the shape changes,
// the shortcut is a projection (option B of the paper).
// Source  He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2.
Graph make_resnet20(const NetOptions& options);

// Builds ResNet-50 of bottleneck blocks, from section 4.1 of the same paper, as in torchvision.
Graph make_resnet50(const NetOptions& options);

}  // namespace winnow::train
