#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds the AlexNet of 2012 in one column without groups, with batch norm instead of local
// response norm, as used for large batches (You et al. 2017).
// Layers  Convolutions have no bias. Names are as in torchvision's AlexNet, but numbers also count
//         the batch norms.
// Images  At least 63 x 63 pixels.
// Source  Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
//         (NIPS 2012).
Graph make_alexnet_bn(const NetOptions& options);

}  // namespace winnow::train
