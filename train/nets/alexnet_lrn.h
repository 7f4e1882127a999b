#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// The paper's AlexNet in one column without groups: local response norm after the first two
// convolutions, overlapping pooling, dropout, and the paper's initial values.
// Layers  Named as in torchvision's AlexNet, with norms counted.
// Images  At least 63 x 63 pixels.
// Source  Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
//         (NIPS 2012).
Graph make_alexnet_lrn(const NetOptions& options);

}  // namespace winnow::train
