#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// The paper's AlexNet in one column without groups, with batch norm instead of local response norm,
// as used for large batches (You et al. 2017).
// Layers  Convolutions have no bias. Named as in torchvision's AlexNet, with batch norms counted.
// Images  At least 63 x 63 pixels.
// Source  Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
//         (NIPS 2012).
Graph make_alexnet_bn(const NetOptions& options);

}  // namespace winnow::train
