#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Krizhevsky et al., "ImageNet classification with deep convolutional neural networks" (NIPS 2012):
// the paper's AlexNet in one column without groups, with local response norm behind the first two
// convolutions, overlapping pooling, dropout and the paper's initial values. Layers are named as in
// torchvision's AlexNet, norms counted. Images of 63 x 63 and more.
Graph make_alexnet_lrn(const NetOptions& options);

}  // namespace winnow::train
