#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds DenseNet-121, as in torchvision.
// Source  Huang et al., "Densely connected convolutional networks" (CVPR 2017).
Graph make_densenet121(const NetOptions& options);

}  // namespace winnow::train
