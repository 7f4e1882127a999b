#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.1: 18 and 34
// layers of basic blocks, as torchvision has them.
Graph make_resnet18(const NetOptions& options);
Graph make_resnet34(const NetOptions& options);

}  // namespace winnow::train
