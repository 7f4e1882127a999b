#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// KellerJordan/cifar10-airbench, legacy/airbench94.py (Jordan 2024): a 2x2 convolution that whitens
// patches of the training images and is not trained, three groups of two convolutions with batch
// norm, of which only the shifts are trained, and a linear layer without bias. Names of parameters
// are those of its Sequential. Images from 9 pixels a side.
Graph make_airbench94(const NetOptions& options);

}  // namespace winnow::train
