#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Sandler et al., "MobileNetV2" (CVPR 2018), as torchvision has it, with dropout.
Graph make_mobilenet_v2(const NetOptions& options);

}  // namespace winnow::train
