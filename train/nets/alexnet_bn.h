#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Krizhevsky et al., "ImageNet classification with deep convolutional neural networks" (NIPS 2012):
// the paper's widths in one column without groups, with batch norm in place of local response norm,
// as nets for large batches have it (You et al. 2017). Convolutions have no bias. Layers are named
// as in torchvision's AlexNet, batch norms counted. Images of 63 x 63 and more.
Graph make_alexnet_bn(const NetOptions& options);

}  // namespace winnow::train
