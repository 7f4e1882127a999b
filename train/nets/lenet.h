#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// LeCun et al., "Gradient-based learning applied to document recognition" (1998), in the shape
// Caffe made common: two convolutions with max pooling, two linear layers, ReLU between those.
// Images of 16 x 16 and more.
Graph make_lenet(const NetOptions& options);

}  // namespace winnow::train
