#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builders of ResNets of 18 and 34 layers with basic blocks, as in torchvision.
// Source  He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.1.
Graph make_resnet18(const NetOptions& options);
Graph make_resnet34(const NetOptions& options);

}  // namespace winnow::train
