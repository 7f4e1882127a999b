#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds the net of DAWNBench's CIFAR-10 entries: eight convolutions with batch norm, two residual
// blocks, and a linear layer without bias. Unlike in Page's code, the logits are not multiplied by
// 1/8. Images of 8 to 128 pixels a side.
// Source  Page, "How to train your ResNet" (2018).
Graph make_resnet9(const NetOptions& options);

}  // namespace winnow::train
