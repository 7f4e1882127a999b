#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Simonyan and Zisserman, "Very deep convolutional networks" (ICLR 2015), with batch norm, as
// torchvision has them, with dropout. Images whose sides are below 224 pixels have smaller maps
// before the first linear layer, which therefore is smaller. Images of 32 x 32 and more.
Graph make_vgg11_bn(const NetOptions& options);
Graph make_vgg16_bn(const NetOptions& options);

}  // namespace winnow::train
