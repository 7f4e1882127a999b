#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// ResNet-20 for small images: 20 layers with widths 16, 32 and 64, with projection shortcuts where
// the shape changes (option B).
// Source  He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2.
Graph make_resnet20(const NetOptions& options);

// ResNet-50 of bottleneck blocks, from section 4.1 of the paper, as in torchvision.
Graph make_resnet50(const NetOptions& options);

}  // namespace winnow::train
