#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// ResNets for small images, deeper than ResNet-20, with projection shortcuts where the shape
// changes (option B).
// Source  He et al., "Deep residual learning for image recognition" (CVPR 2016), section 4.2.
Graph make_resnet32(const NetOptions& options);
Graph make_resnet44(const NetOptions& options);
Graph make_resnet56(const NetOptions& options);
Graph make_resnet110(const NetOptions& options);

}  // namespace winnow::train
