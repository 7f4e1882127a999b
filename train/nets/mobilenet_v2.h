#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds MobileNetV2 with dropout, as in torchvision.
// Source  Sandler et al., "MobileNetV2" (CVPR 2018).
Graph make_mobilenet_v2(const NetOptions& options);

}  // namespace winnow::train
