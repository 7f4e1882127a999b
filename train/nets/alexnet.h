#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds AlexNet in one column (not split over two GPUs), with dropout, as in torchvision. Images
// of at least 63 x 63 pixels.
// Source  Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014).
Graph make_alexnet(const NetOptions& options);

}  // namespace winnow::train
