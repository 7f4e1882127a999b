#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds the AlexNet of 2012 in one column without groups: local response norm after the first two
// convolutions, overlapping pooling, dropout, and the paper's initial values.
// Layers  Names are as in torchvision's AlexNet, but numbers also count the norms.
// Images  At least 63 x 63 pixels.
// Source  Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
//         (NIPS 2012).
Graph make_alexnet_lrn(const NetOptions& options);

}  // namespace winnow::train
