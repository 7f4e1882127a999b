#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2: 20 layers of
// width 16, 32, 64 for small images, with projections where the shape changes (option B).
Graph make_resnet20(const NetOptions& options);

// The same paper's section 4.1: 50 layers of bottleneck blocks, as torchvision has it.
Graph make_resnet50(const NetOptions& options);

}  // namespace winnow::train
