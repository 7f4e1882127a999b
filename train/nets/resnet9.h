#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Page, "How to train your ResNet" (2018), the net of DAWNBench's CIFAR-10 entries: eight
// convolutions with batch norm, two of the stages residual, and a linear layer without bias. The
// logits are not scaled by 1/8. Images of 8 to 128 pixels a side.
Graph make_resnet9(const NetOptions& options);

}  // namespace winnow::train
