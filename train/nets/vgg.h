#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builders of VGG nets with batch norm and dropout, as in torchvision.
// Images  At least 32 x 32 pixels. Below 224, the feature maps before the first linear layer are
//         smaller, and so is that layer.
// Source  Simonyan and Zisserman, "Very deep convolutional networks" (ICLR 2015).
Graph make_vgg11_bn(const NetOptions& options);
Graph make_vgg16_bn(const NetOptions& options);

}  // namespace winnow::train
