#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builders of ResNets for small images that are deeper than ResNet-20. Where the shape changes, the
// shortcut is a projection (option B of the paper).
// Source  He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2.
Graph make_resnet32(const NetOptions& options);
Graph make_resnet44(const NetOptions& options);
Graph make_resnet56(const NetOptions& options);
Graph make_resnet110(const NetOptions& options);

}  // namespace winnow::train
