#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds the net of KellerJordan/cifar10-airbench, legacy/airbench94.py (Jordan 2024).
// Layers      A fixed 2x2 convolution that whitens patches of the training images; three groups of
//             two convolutions with batch norm, of which only the shifts are trained; a linear
//             layer without bias.
// Parameters  Named as in airbench94.py's Sequential.
// Images      At least 9 x 9 pixels.
Graph make_airbench94(const NetOptions& options);

}  // namespace winnow::train
