#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Huang et al., "Densely connected convolutional networks" (CVPR 2017): DenseNet-121 as torchvision
// has it.
Graph make_densenet121(const NetOptions& options);

}  // namespace winnow::train
