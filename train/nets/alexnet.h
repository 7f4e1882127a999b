#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014): AlexNet in
// one column, as torchvision has it, with dropout. Images of 63 x 63 and more.
Graph make_alexnet(const NetOptions& options);

}  // namespace winnow::train
