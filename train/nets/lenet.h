#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds LeNet in the form that Caffe made common: two convolutions with max pooling, then two
// linear layers with a ReLU between them. Images of at least 16 x 16 pixels.
// Source  LeCun et al., "Gradient-based learning applied to document recognition" (1998).
Graph make_lenet(const NetOptions& options);

}  // namespace winnow::train
